"""Variables that tell containers where services are.

Source: kubelet v1.36 (envvars). There is no cluster DNS here, so a variable carries the address at
which the service can really be reached from this node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from windtunnel.machinery.tree import Tree, dig, key_of

Reach = Callable[[Tree, Tree], tuple[str, int]]
"""From a service and one of its ports to the host and the port where it answers."""


def at_its_address(service: Tree, port: Tree) -> tuple[str, int]:
    """Reach a service at its cluster address."""
    return str(dig(service, "spec", "clusterIP") or ""), int(port["port"])


def service_variables(
    services: Iterable[Tree], namespace: str, *, links: bool, reach: Reach
) -> dict[str, str]:
    """Return the variables for a pod of a namespace.

    Args:
        services: All services.
        namespace: The pod's.
        links: Whether the pod wants those of its namespace, besides the API server's.
        reach: Where a service answers.
    """
    found: dict[str, str] = {}
    for service in sorted(services, key=key_of):
        key = key_of(service)
        address = dig(service, "spec", "clusterIP")
        if address in (None, "", "None"):
            continue
        master = key == ("default", "kubernetes")
        if master or (links and key.namespace == namespace):
            found |= _variables(service, reach)
    return found


def _variables(service: Tree, reach: Reach) -> dict[str, str]:
    name = key_of(service).name.upper().replace("-", "_")
    ports = dig(service, "spec", "ports") or []
    if not ports:
        return {}
    made: dict[str, str] = {}
    for number, port in enumerate(ports):
        host, there = reach(service, port)
        protocol = str(port.get("protocol") or "TCP")
        if number == 0:
            made[f"{name}_SERVICE_HOST"] = host
            made[f"{name}_SERVICE_PORT"] = str(there)
            made[f"{name}_PORT"] = f"{protocol.lower()}://{host}:{there}"
        if port.get("name"):
            made[f"{name}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"] = str(there)
        prefix = f"{name}_PORT_{port['port']}_{protocol.upper()}"
        made[prefix] = f"{protocol.lower()}://{host}:{there}"
        made[f"{prefix}_PROTO"] = protocol.lower()
        made[f"{prefix}_PORT"] = str(there)
        made[f"{prefix}_ADDR"] = host
    return made
