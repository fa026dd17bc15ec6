"""Container images on nodes: how large, and where.

As in the real cache, the size that counts is the one told by the first node that had the image.
"""

from __future__ import annotations

from windtunnel.fleet.node import NodeFacts


class Images:
    """Sizes and nodes by image name."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, None]] = {}
        self._sizes: dict[str, int] = {}

    def copy(self) -> Images:
        """Return images of its own with the same content."""
        made = Images()
        made._nodes = {image: dict(nodes) for image, nodes in self._nodes.items()}
        made._sizes = dict(self._sizes)
        return made

    def put(self, facts: NodeFacts, before: NodeFacts | None) -> None:
        """Learn a node's images in place of those it had before."""
        if before is not None:
            self.remove(before)
        for image, size in facts.images:
            self._nodes.setdefault(image, {})[facts.name] = None
            self._sizes.setdefault(image, size)

    def remove(self, facts: NodeFacts) -> None:
        """Forget a node's images."""
        for image, _ in facts.images:
            nodes = self._nodes.get(image)
            if nodes is not None:
                nodes.pop(facts.name, None)
                if not nodes:
                    del self._nodes[image], self._sizes[image]

    def of(self, image: str) -> tuple[int, tuple[str, ...]]:
        """Return an image's bytes and the nodes that have it; 0 and none where it is unknown."""
        return self._sizes.get(image, 0), tuple(self._nodes.get(image, ()))
