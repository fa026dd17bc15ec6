from __future__ import annotations

from typing import Any

import pytest

from windtunnel.apiserver.forms.jsonpath import find

TREE = {
    "spec": {"n": 1, "list": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]},
    "metadata": {"labels": {"a.b/c": "x"}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}
CASES: dict[str, tuple[str, list[Any]]] = {
    "a field": (".spec.n", [1]),
    "braces": ("{.spec.n}", [1]),
    "a missing field": (".spec.x.y", []),
    "an index": (".spec.list[1].v", [2]),
    "from the end": (".spec.list[-1].k", ["b"]),
    "all items": (".spec.list[*].v", [1, 2]),
    "a condition": ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
    "no such item": ('.status.conditions[?(@.type=="X")].status', []),
    "not equal": ('.spec.list[?(@.k!="a")].v', [2]),
    "an escaped dot": (".metadata.labels.a\\.b/c", ["x"]),
    "a quoted key": (".metadata.labels['a.b/c']", ["x"]),
    "nonsense": (".spec[", []),
}


@pytest.mark.parametrize(("path", "want"), CASES.values(), ids=CASES)
def test_what_stands_at_a_path(path: str, want: list[Any]) -> None:
    assert find(TREE, path) == want
