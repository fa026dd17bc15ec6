from __future__ import annotations

import pytest

from windtunnel.kinds.pod.bindings import validate_binding
from windtunnel.machinery.tree import Tree

CASES = {
    "a node by name": ({"target": {"kind": "Node", "name": "n"}}, []),
    "the kind may be left out": ({"target": {"name": "n"}}, []),
    "nothing": ({}, ["target.name: Required value"]),
    "another kind": (
        {"target": {"kind": "Pod", "name": "p"}},
        ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
    ),
}


@pytest.mark.parametrize(("binding", "want"), CASES.values(), ids=CASES)
def test_a_binding_names_a_node(binding: Tree, want: list[str]) -> None:
    assert [str(violation) for violation in validate_binding(binding)] == want
