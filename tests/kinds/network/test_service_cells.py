from __future__ import annotations

import pytest

from windtunnel.kinds.network.service_cells import service_cells
from windtunnel.machinery.tree import Tree

PORT = {"port": 80, "protocol": "TCP"}
CELLS: dict[str, tuple[Tree, str, str]] = {
    "an inner address": ({"type": "ClusterIP", "ports": [PORT]}, "<none>", "80/TCP"),
    "a port of every node": (
        {"type": "NodePort", "ports": [{**PORT, "nodePort": 30000}]}, "<none>", "80:30000/TCP",
    ),
    "a name elsewhere": ({"type": "ExternalName", "externalName": "a.b"}, "a.b", "<none>"),
    "a balancer that is to come": ({"type": "LoadBalancer"}, "<pending>", "<none>"),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "external", "ports"), CELLS.values(), ids=CELLS.keys())
def test_a_row_says_where_a_service_is_reached(spec: Tree, external: str, ports: str) -> None:
    cells = service_cells({"metadata": {"name": "s"}, "spec": spec}, 0.0)

    assert (cells[3], cells[4]) == (external, ports)
