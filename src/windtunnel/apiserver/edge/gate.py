"""The gate: nothing passes before the durable mark has reached its revision."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

from windtunnel.store import Store


class Gate:
    """Lets waiting answers and streams go on when what they tell is durable."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store, self._loop = store, loop
        self._waiting: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        store.on_durable(self._release, loop.call_soon_threadsafe)

    async def passed(self, revision: int) -> None:
        """Wait until ``revision`` is durable.

        Raises:
            CommitFailed: it never will be; whatever was to be told must not leave.
        """
        if self._store.durable >= revision:
            return
        passing: asyncio.Future[None] = self._loop.create_future()

        def go_on() -> None:
            if not passing.done():
                passing.set_result(None)

        self.call_when_open(revision, go_on)
        await passing
        if self._store.durable < revision and self._store.failure is not None:
            raise self._store.failure

    def call_when_open(self, revision: int, callback: Callable[[], None]) -> None:
        """Call back once, when ``revision`` is durable or never will be."""
        if self._store.durable >= revision or self._store.failure is not None:
            callback()
        else:
            heapq.heappush(self._waiting, (revision, next(self._order), callback))

    def _release(self) -> None:
        durable = self._store.durable
        if self._store.failure is not None:
            durable = self._store.revision
        while self._waiting and self._waiting[0][0] <= durable:
            heapq.heappop(self._waiting)[2]()
