"""The backend without a disk: the store's own memory is all there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from windtunnel.store.backend import Loaded
from windtunnel.store.version import Version

FIRST_REVISION = 1
"""An empty store stands at revision 1, as etcd does: 0 means "any" to clients."""


class MemoryBackend:
    """Keeps nothing beyond what the store itself remembers."""

    keeps_history: ClassVar[bool] = False

    def load(self) -> Loaded:
        """Return an empty state."""
        return Loaded(FIRST_REVISION, FIRST_REVISION, ())

    def commit(self, versions: Sequence[Version]) -> None:
        """Nothing outlives the process."""

    def compact(self, revision: int) -> None:
        """There is nothing here to forget."""

    def since(self, resource: str, after: int, until: int) -> list[Version]:
        """There is no history here."""
        return []

    def at(self, resource: str, revision: int) -> list[Version]:
        """There is no history here."""
        return []

    def close(self) -> None:
        """There is nothing to let go of."""
