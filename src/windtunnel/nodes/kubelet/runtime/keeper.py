"""The runtime's thread: it starts processes, waits for them, and moves what they put out.

Processes are started on this thread and no other, since the kernel takes the death of the thread
that started a process for the death of its parent. It also does whatever touches a container's
state, so that needs no lock.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class Keeper:
    """A thread over a selector.

    Args:
        look: Called about every ``seconds`` while it returns True; then not until ``look_again``.
        seconds: How often.
    """

    def __init__(self, look: Callable[[], bool], seconds: float) -> None:
        self._look, self._seconds = look, seconds
        self._looking = False
        self._selector = selectors.DefaultSelector()
        self._work: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._woken, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector.register(self._woken, selectors.EVENT_READ, self._take_work)
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="runtime", daemon=True)
        self._thread.start()

    def do(self, work: Callable[[], T]) -> T:
        """Do ``work`` on the thread; return its result or raise its exception."""
        if threading.current_thread() is self._thread:
            return work()
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        self._work.put(run)
        os.write(self._wake, b"x")
        return future.result()

    def watch(self, descriptor: int, ready: Callable[[], object]) -> None:
        """Call ``ready`` whenever the descriptor can be read; on the thread only."""
        self._selector.register(descriptor, selectors.EVENT_READ, ready)

    def leave(self, descriptor: int) -> None:
        """Stop watching a descriptor, and close it; on the thread only."""
        with contextlib.suppress(KeyError):
            self._selector.unregister(descriptor)
        os.close(descriptor)

    def look_again(self) -> None:
        """Begin to look; on the thread only."""
        self._looking = True

    def close(self) -> None:
        """End the thread."""

        def end() -> None:
            self._ending = True

        self.do(end)
        self._thread.join()
        self._selector.close()
        os.close(self._woken)
        os.close(self._wake)

    def _run(self) -> None:
        while not self._ending:
            ready = self._selector.select(self._seconds if self._looking else None)
            for key, _ in ready:
                if key.fd in self._selector.get_map():  # an earlier one may have left this
                    self._call(key.data)
            if self._looking:
                self._looking = self._look()

    def _call(self, ready: Callable[[], object]) -> None:
        """Whoever fails here must not stop all containers of the node: it is reported."""
        try:
            ready()
        except Exception as error:
            threading.excepthook(
                threading.ExceptHookArgs((type(error), error, error.__traceback__, self._thread))
            )

    def _take_work(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        while True:
            try:
                work = self._work.get_nowait()
            except queue.Empty:
                return
            work()
