"""Container images on nodes: how large, and where.

As in the real cache, the size that counts is the one told by the first node that had the image. How
many nodes have it is counted for each node by itself, when a search begins and the node or its pods
have changed since the last one: a node where nothing happens goes by an old count.
"""

from __future__ import annotations

from windtunnel.fleet.node import NodeFacts


class Images:
    """Sizes and nodes by image name."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, int]] = {}
        """For each image the nodes that have it, and how many the node believes there are."""
        self._sizes: dict[str, int] = {}
        self._on: dict[str, tuple[str, ...]] = {}
        self._changed: set[str] = set()
        """Nodes that will count anew; until then they go by what is true."""

    def copy(self) -> Images:
        """Return images of its own with the same content."""
        made = Images()
        made._nodes = {image: dict(nodes) for image, nodes in self._nodes.items()}
        made._sizes = dict(self._sizes)
        made._on, made._changed = dict(self._on), set(self._changed)
        return made

    def put(self, facts: NodeFacts, before: NodeFacts | None) -> None:
        """Learn a node's images in place of those it had before."""
        if before is not None:
            self.remove(before)
        for image, size in facts.images:
            self._nodes.setdefault(image, {})[facts.name] = 0
            self._sizes.setdefault(image, size)
        if facts.images:
            self._on[facts.name] = tuple(image for image, _ in facts.images)
            self._changed.add(facts.name)

    def remove(self, facts: NodeFacts) -> None:
        """Forget a node's images."""
        self._on.pop(facts.name, None)
        self._changed.discard(facts.name)
        for image, _ in facts.images:
            nodes = self._nodes.get(image)
            if nodes is not None:
                nodes.pop(facts.name, None)
                if not nodes:
                    del self._nodes[image], self._sizes[image]

    def touch(self, node: str) -> None:
        """Note that something about a node changed."""
        if node in self._on:
            self._changed.add(node)

    def recount(self) -> bool:
        """Let the changed nodes count anew; says whether any count is another than before."""
        other = False
        for node in self._changed:
            for image in self._on[node]:
                nodes = self._nodes[image]
                other = other or nodes[node] != len(nodes)
                nodes[node] = len(nodes)
        self._changed.clear()
        return other

    def of(self, image: str) -> tuple[int, dict[str, int]]:
        """Return an image's bytes, and the nodes that have it with how many each believes do."""
        nodes = self._nodes.get(image, {})
        counts = {
            node: len(nodes) if node in self._changed else count for node, count in nodes.items()
        }
        return self._sizes.get(image, 0), counts
