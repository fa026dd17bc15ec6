"""Which nodes there are: their facts, the order in which they are walked, their images."""

from __future__ import annotations

from windtunnel.fleet.images import Images
from windtunnel.fleet.node import NodeFacts
from windtunnel.fleet.node_order import NodeOrder


class Roster:
    """All nodes, apart from the pods on them."""

    def __init__(self) -> None:
        self.facts: dict[str, NodeFacts] = {}
        self.images = Images()
        self._order = NodeOrder()

    def copy(self) -> Roster:
        """Return a roster of its own with the same nodes."""
        made = Roster()
        made.facts = dict(self.facts)
        made.images, made._order = self.images.copy(), self._order.copy()
        return made

    def put(self, facts: NodeFacts) -> bool:
        """Add a node, or learn what it is now; says whether it came."""
        self.images.put(facts, self.facts.get(facts.name))
        self.facts[facts.name] = facts
        return self._order.put(facts.name, facts.zone)

    def remove(self, name: str) -> None:
        """Forget a node."""
        self.images.remove(self.facts.pop(name))
        self._order.remove(name)

    def names(self) -> list[str]:
        """Return all nodes in the order in which they are walked."""
        return self._order.names()
