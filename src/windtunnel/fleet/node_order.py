"""The order in which the scheduler walks nodes: zones in turn.

Zones stand in order of first appearance, nodes of a zone in order of addition; the list takes the
first node of every zone, then the second of every zone, and so on. A node that changes zone goes to
the end of its new zone, but the real scheduler makes its list anew only when a node comes or goes.

Source: kube-scheduler v1.36, node tree.
"""

from __future__ import annotations


class NodeOrder:
    """Keeps nodes by zone."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}

    def copy(self) -> NodeOrder:
        """Return an order of its own with the same nodes."""
        made = NodeOrder()
        made._zones = {zone: dict(nodes) for zone, nodes in self._zones.items()}
        made._zone_of = dict(self._zone_of)
        return made

    def put(self, name: str, zone: str) -> bool:
        """Add a node or move it to another zone; says whether it came."""
        known = self._zone_of.get(name)
        if known == zone:
            return False
        if known is not None:
            self.remove(name)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone
        return known is None

    def remove(self, name: str) -> None:
        """Take a node out; a zone without nodes loses its place."""
        zone = self._zone_of.pop(name)
        nodes = self._zones[zone]
        del nodes[name]
        if not nodes:
            del self._zones[zone]

    def names(self) -> list[str]:
        """Return all nodes in the order they are walked."""
        lines = [list(nodes) for nodes in self._zones.values()]
        deepest = max(map(len, lines), default=0)
        return [line[depth] for depth in range(deepest) for line in lines if depth < len(line)]
