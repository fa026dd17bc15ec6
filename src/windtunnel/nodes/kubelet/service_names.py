"""Under which names containers find services: there is no DNS here, hosts files tell them.

A service has its name, and so has each pod that stands by a host name behind one without an
address (those of a StatefulSet). In its own namespace the first part of a name is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.network import served_at


class Named(NamedTuple):
    """A name within a namespace, and where it answers."""

    namespace: str
    name: str
    host: str


def served_endpoints(endpoint_slice: Tree) -> Iterator[tuple[Tree, str]]:
    """Yield the ready endpoints of a slice with each place where they answer."""
    for endpoint in endpoint_slice.get("endpoints") or ():
        if dig(endpoint, "conditions", "ready") is not False:
            for address in endpoint.get("addresses") or ():
                yield endpoint, served_at(str(address))


def headless_names(service: Key, slices: Iterable[Tree]) -> tuple[Named, ...]:
    """Return the names that a service without an address gives to its ready endpoints."""
    found: dict[Named, None] = {}
    for each in slices:
        for endpoint, host in served_endpoints(each):
            found[Named(service.namespace, service.name, host)] = None
            if own := endpoint.get("hostname"):
                found[Named(service.namespace, f"{own}.{service.name}", host)] = None
    return tuple(sorted(found))


def host_lines(names: Iterable[Named], namespace: str) -> list[str]:
    """Return the lines of a hosts file in a namespace."""
    lines = []
    for home, name, host in sorted(names):
        full = f"{name}.{home}"
        short = f" {name}" if home == namespace else ""
        lines.append(f"{host}\t{full} {full}.svc {full}.svc.cluster.local{short}")
    return lines
