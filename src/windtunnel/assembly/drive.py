"""Drives the kernel's loop inside asyncio: steps and requests take turns on one thread.

A turn plays due steps for a few milliseconds, then sockets have theirs. With nothing due there is
one timer, for the next step; with nothing to come there is none, and an idle cluster costs nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final

from windtunnel.kernel import Loop

_TURN_SECONDS: Final = 0.003


class Drive:
    """Plays a loop's steps as they fall due, until it is stopped."""

    def __init__(self, loop: Loop, crashed: Callable[[Exception], None]) -> None:
        """Begin to drive; must be called on the running event loop.

        Args:
            loop: Whose steps are played; nobody else may run it meanwhile.
            crashed: Told of an exception that left a step; the drive has stopped then.
        """
        self._loop, self._crashed = loop, crashed
        self._events = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._next: asyncio.Handle | None = None
        self._playing = False
        self._stopped = False
        loop.wake = self._wake
        self._arm()

    def stop(self) -> None:
        """Play nothing more."""
        self._stopped = True
        self._loop.wake = None
        self._disarm()

    def _wake(self) -> None:
        if threading.get_ident() != self._thread:
            self._events.call_soon_threadsafe(self._arm)
        elif not self._playing:
            self._arm()

    def _arm(self) -> None:
        """See to it that the next turn comes when the next step is due."""
        if self._stopped or self._playing:
            return
        self._disarm()
        due = self._loop.next_due()
        if due is None:
            return
        wait = due - self._loop.clock.now()
        if wait > 0:
            self._next = self._events.call_later(wait, self._turn)
        else:
            self._next = self._events.call_soon(self._turn)

    def _disarm(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _turn(self) -> None:
        self._next = None
        self._playing = True
        try:
            self._loop.run_due(_TURN_SECONDS)
        except Exception as error:
            self.stop()
            self._crashed(error)
        finally:
            self._playing = False
        self._arm()
