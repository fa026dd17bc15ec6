from __future__ import annotations

from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.tree import Tree


def row(*conditions: Tree) -> list[object]:
    cells = Catalogue(builtin_kinds()).by_resource("componentstatuses").rules.cells
    assert cells is not None
    return cells({"metadata": {"name": "etcd-0"}, "conditions": list(conditions)}, 0)


def test_a_component_is_healthy_ill_or_unknown() -> None:
    assert row() == ["etcd-0", "Unknown", "", ""]
    assert row({"type": "Healthy", "status": "True", "message": "ok"})[1:3] == ["Healthy", "ok"]
    assert row({"type": "Healthy", "status": "False", "error": "no"})[1:] == ["Unhealthy", "", "no"]
