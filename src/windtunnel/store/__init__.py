"""Versions and watch over SQLite or memory: what the cluster was, is, and who is to be told.

A write is applied in memory at once and gets its revision; a committer makes it durable and moves
the durable mark. Nothing may leave the process before the mark has passed its revision.
"""

from windtunnel.store.refusals import CommitFailed, HistoryGone, Stale
from windtunnel.store.store import Store
from windtunnel.store.version import Version

__all__ = ["CommitFailed", "HistoryGone", "Stale", "Store", "Version"]
