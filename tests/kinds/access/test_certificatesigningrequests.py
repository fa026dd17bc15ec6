from __future__ import annotations

import pytest
from tests.kinds.answers import answers, play

from windtunnel.kinds.access.certificatesigningrequests import (
    RULES,
    set_requester,
    validate_approval,
)
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("certificatesigningrequests"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)


def test_who_asks_is_written_by_the_server() -> None:
    tree: Tree = {"spec": {"username": "root", "groups": ["system:masters"]}}
    set_requester(tree, "alice", "", ["devs"], {"key": ["v"]})

    assert tree["spec"] == {"username": "alice", "groups": ["devs"], "extra": {"key": ["v"]}}


@pytest.mark.parametrize(
    ("kinds", "certificate", "cell"),
    [
        ([], "", "Pending"),
        (["Approved"], "", "Approved"),
        (["Approved"], "eA==", "Approved,Issued"),
        (["Denied", "Failed"], "", "Denied,Failed"),
    ],
)
def test_the_state_of_a_request(kinds: list[str], certificate: str, cell: str) -> None:
    conditions = [{"type": kind, "status": "True"} for kind in kinds]
    tree: Tree = {"status": {"conditions": conditions, "certificate": certificate}}

    assert RULES.cells is not None
    assert RULES.cells(tree, 0.0)[-1] == cell


def test_only_the_approval_subresource_decides() -> None:
    decided: Tree = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
    forbidden = 'updates may not add a condition of type "Approved"'

    assert any(forbidden in str(found) for found in RULES.validate_status(decided, {}))
    assert not any(forbidden in str(found) for found in validate_approval(decided, {}))
