from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from windtunnel.machinery.schema import Findings, Structure, conversion_mistake

Find = Callable[[str], Structure]

MISTAKES = {
    "text for a list": ({"containers": "x"}, "cannot restore slice from string"),
    "text for an object": ({"securityContext": "x"}, "cannot restore struct from: string"),
    "list for a map": ({"nodeSelector": []}, "cannot restore map from slice"),
    "text for a number": ({"priority": "x"}, "unrecognized type: int32"),
    "a fraction for an integer": ({"priority": 1.5}, "cannot convert float64 to int32"),
    "number for a text": ({"nodeName": 1}, "cannot convert int64 to string"),
    "number for a text with a type of its own": (
        {"restartPolicy": 1}, "cannot convert int64 to v1.RestartPolicy",
    ),
    "text for a bool": ({"hostNetwork": "x"}, "unrecognized type: bool"),
    "a malformed quantity": (
        {"overhead": {"cpu": "x y"}},
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "want"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_wrong_type_is_told_in_the_words_of_the_converter(
    structure: Find, spec: Any, want: str
) -> None:
    assert conversion_mistake(structure("core.v1.PodSpec"), copy.deepcopy(spec)) == want


def test_whole_numbers_may_have_been_written_with_a_fraction(structure: Find) -> None:
    spec = {"priority": 5.0, "containers": [{"name": "c"}]}

    assert conversion_mistake(structure("core.v1.PodSpec"), spec) == Findings()
    assert spec == {"priority": 5, "containers": [{"name": "c", "resources": {}}]}


def test_unknown_fields_are_told_in_the_order_of_their_names(structure: Find) -> None:
    tree = {"spec": {"template": {"bar": 2}, "foo": 1}}

    findings = conversion_mistake(structure("apps.v1.Deployment"), tree)

    assert isinstance(findings, Findings)
    assert findings.unknown == ("spec.foo", "spec.template.bar")
