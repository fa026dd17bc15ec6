"""The committer: one thread that makes versions durable and moves the mark.

It takes all versions since its last turn and writes them in one transaction, so that one sync
serves as many writes as came in meanwhile. It never touches the store's objects: versions are
immutable, and the queue between the two threads is a deque.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from windtunnel.store.backend import Backend
from windtunnel.store.refusals import CommitFailed
from windtunnel.store.version import Version

Post = Callable[[Callable[[], None]], object]
"""Passes a call to the thread that owns the store (``loop.call_soon_threadsafe``)."""


class Committer:
    """Writes batches of versions; ``durable`` is the mark, ``failure`` why it stands still."""

    def __init__(self, backend: Backend, durable: int) -> None:
        self.durable = durable
        self.failure: CommitFailed | None = None
        self._backend = backend
        self._pending: deque[Version] = deque()
        self._compact_to = 0
        self._listeners: tuple[tuple[Callable[[], None], Post], ...] = ()
        self._wake = threading.Event()
        self._moved = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def add(self, version: Version) -> None:
        """Take a version; versions come in the order of their revisions."""
        self._pending.append(version)
        if not self._wake.is_set():
            self._wake.set()

    def compact(self, revision: int) -> None:
        """Forget history up to ``revision`` once all before it is durable."""
        self._compact_to = max(self._compact_to, revision)
        self._wake.set()

    def tell(self, callback: Callable[[], None], post: Post) -> None:
        """Have ``callback`` posted whenever the mark has moved or a commit has failed."""
        self._listeners = (*self._listeners, (callback, post))

    def flush(self, revision: int) -> None:
        """Wait until ``revision`` is durable.

        Raises:
            CommitFailed: it never will be.
        """
        with self._moved:
            self._moved.wait_for(lambda: self.durable >= revision or self.failure is not None)
        if self.durable < revision and self.failure is not None:
            raise self.failure

    def close(self) -> None:
        """Write what is pending and end the thread.

        Raises:
            CommitFailed: what was pending is lost.
        """
        self._closing = True
        self._wake.set()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        compacted = 0
        while True:
            self._wake.wait()
            self._wake.clear()
            try:
                batch = [self._pending.popleft() for _ in range(len(self._pending))]
                if batch:
                    self._backend.commit(batch)
                    self._move(batch[-1].revision)
                if compacted < self._compact_to <= self.durable:
                    compacted = self._compact_to
                    self._backend.compact(compacted)
            except Exception as error:
                self._fail(error)
                return
            if self._closing and not self._pending:
                return

    def _move(self, revision: int) -> None:
        with self._moved:
            self.durable = revision
            self._moved.notify_all()
        self._announce()

    def _fail(self, error: Exception) -> None:
        with self._moved:
            self.failure = CommitFailed(error)
            self._moved.notify_all()
        self._announce()

    def _announce(self) -> None:
        for callback, post in self._listeners:
            # The owner's event loop may have ended while the last versions were written.
            with suppress(RuntimeError):
                post(callback)
