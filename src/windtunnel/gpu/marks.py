"""What parts of the operator look at in the metadata of nodes and ConfigMaps."""

from __future__ import annotations

import msgspec

from windtunnel.devices import PLAYED


class Marks(msgspec.Struct, rename="camel"):
    """Who an object is, and what is written on it."""

    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deletion_timestamp: str | None = None

    @property
    def played(self) -> bool:
        """Whether a node is played, or a document is that of such a node."""
        return self.annotations.get(PLAYED) == "fake"
