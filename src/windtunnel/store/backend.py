"""Where versions are kept: what the store asks of a disk, or of the lack of one.

The store applies a write in memory and hands the version on; a backend that keeps history makes
batches of versions durable, and answers for what has left memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from windtunnel.store.version import Version


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a backend knows when it is opened."""

    revision: int
    """The last durable revision."""
    compacted: int
    """History up to here is forgotten."""
    live: Sequence[Version]
    """Every object that exists, in no particular order, without ``previous``."""


class Backend(Protocol):
    """Keeps versions. The committer's thread commits and compacts, the owner's loads and reads."""

    keeps_history: ClassVar[bool]
    """Whether versions outlive the process; where not, a version is durable once it is applied."""

    def load(self) -> Loaded:
        """Return the state that was durable last; called once, first."""

    def commit(self, versions: Sequence[Version]) -> None:
        """Make all of these durable, or none and raise."""

    def compact(self, revision: int) -> None:
        """Forget versions up to ``revision`` that are not the state at ``revision``."""

    def since(self, resource: str, after: int, until: int) -> list[Version]:
        """Return the resource's versions in ``(after, until]``, oldest first, with ``previous``."""

    def at(self, resource: str, revision: int) -> list[Version]:
        """Return the resource's objects as of ``revision``, in no particular order."""

    def close(self) -> None:
        """Let go of files and locks."""
