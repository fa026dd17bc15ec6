"""How a service is printed in tables."""

from __future__ import annotations

from typing import Any

from windtunnel.kinds.rules.checks import age_cell, name_cell
from windtunnel.machinery.selectors import LabelSelector
from windtunnel.machinery.tree import Tree, dig


def _external_cell(service: Tree) -> str:
    spec = service.get("spec") or {}
    outside = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(outside) or "<none>"
        case "LoadBalancer":
            ingress = dig(service, "status", "loadBalancer", "ingress") or ()
            given = {each.get("ip") or each.get("hostname") or "" for each in ingress} - {""}
            return ",".join([*sorted(given), *outside]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case _:
            return "<unknown>"


def _port_cell(port: Tree) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


def service_cells(service: Tree, now: float) -> list[Any]:
    """Return the cells of a service's row."""
    spec = service.get("spec") or {}
    addresses = spec.get("clusterIPs") or ["<none>"]
    return [
        name_cell(service),
        spec.get("type", ""),
        addresses[0],
        _external_cell(service),
        ",".join(map(_port_cell, spec.get("ports") or ())) or "<none>",
        age_cell(service, now),
        str(LabelSelector.from_labels(spec.get("selector"))) or "<none>",
    ]
