"""Why the store says no: somebody was faster, the past is gone, or the disk has failed."""

from __future__ import annotations

from windtunnel.errors import ClusterError


class Stale(Exception):
    """The object is not at the revision the writer has read; ``current`` is 0 where it is gone."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the object is at revision {current}")
        self.current = current


class HistoryGone(Exception):
    """History up to ``oldest`` is forgotten; what is asked for lies before it."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"history up to revision {oldest} is forgotten")
        self.oldest = oldest


class CommitFailed(ClusterError):
    """A transaction could not be made durable; nothing written after it may leave the process."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(f"The cluster stops: its state could not be written to disk ({cause}).")
