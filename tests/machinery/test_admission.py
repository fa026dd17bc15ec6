from __future__ import annotations

import pytest

from windtunnel.machinery.admission import Act, Spoken


@pytest.mark.parametrize(
    ("group", "plural", "want"), [("", "pods", "pods"), ("apps", "deployments", "deployments.apps")]
)
def test_a_sort_of_write_names_its_resource(group: str, plural: str, want: str) -> None:
    act = Act("CREATE", group, "v1", plural, True, Spoken(group, "v1", "X"))

    assert act.resource == want
