from __future__ import annotations

from windtunnel.kinds.served import facts
from windtunnel.kinds.served.registry import builtin_kinds

KNOWN = {kind.resource for kind in builtin_kinds()}


def test_facts_are_about_kinds_that_exist() -> None:
    named = {
        *facts.GENERATION, *facts.CREATES_ON_PUT, *facts.NEEDS_REVISION_ON_PUT,
        *facts.ANSWERS_DELETED_OBJECT, *facts.DEFAULT_PROPAGATION, *facts.FIELD_LABELS,
        *facts.UNKNOWN_FIELD_LABEL, *facts.METADATA_ON_UPDATE, *facts.DEPRECATED,
    }  # fmt: skip

    assert named - KNOWN == set()
