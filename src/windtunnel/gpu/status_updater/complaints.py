"""What is wrong with nodes and their pods, told once for as long as it holds.

A visit of a node finds everything that is wrong with it; what the visit before has not found
becomes an Event.
"""

from __future__ import annotations

from windtunnel.client.events import LONGEST_WORDS, Recorder, Subject


class NodeVisit:
    """What one visit of a node finds."""

    def __init__(
        self, events: Recorder, node: Subject, known: frozenset[tuple[Subject, str]]
    ) -> None:
        self._events, self._known = events, known
        self.node = node
        self.found: set[tuple[Subject, str]] = set()

    def tell(self, reason: str, words: str, about: Subject | None = None) -> None:
        """Tell what is wrong with the node, or with something else on it."""
        finding = (about or self.node, words[:LONGEST_WORDS])
        self.found.add(finding)
        if finding not in self._known:
            self._events.warning(finding[0], reason, finding[1])


class Complaints:
    """What the last visit of each node has found."""

    def __init__(self, events: Recorder) -> None:
        self._events = events
        self._known: dict[str, frozenset[tuple[Subject, str]]] = {}

    def visit(self, node: Subject) -> NodeVisit:
        """Begin a visit."""
        return NodeVisit(self._events, node, self._known.get(node.name, frozenset()))

    def end(self, visit: NodeVisit) -> None:
        """End a visit: what it has not found is told again when it comes back."""
        self._known[visit.node.name] = frozenset(visit.found)

    def forget(self, node: str) -> None:
        """Forget a node that is not ours any more."""
        self._known.pop(node, None)
