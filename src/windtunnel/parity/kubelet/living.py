"""Parts that live in this process as agents do in theirs: a thread, a loop, a drive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from windtunnel.assembly.agent import BlockingDrive
from windtunnel.kernel import Actor, Loop, WallClock

_BEGIN_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 15.0


class Living:
    """One part on a thread of its own, from ``__init__`` to ``stop``."""

    def __init__(self, name: str, make: Callable[[Loop], Actor]) -> None:
        """Make the part and start it; returns when it has begun to work.

        Raises:
            Exception: what making or starting it raised.
        """
        self.failure: Exception | None = None
        """What ended it, if nobody stopped it."""
        self.failures: list[str] = []
        """What was tried again."""
        begun = threading.Event()
        loop = Loop(WallClock(), self._report)
        self._drive = BlockingDrive(loop)

        def live() -> None:
            try:
                part = make(loop)
                part.start()
                begun.set()
                try:
                    self._drive.run()
                finally:
                    part.stop()
            except Exception as error:
                self.failure = error
            finally:
                begun.set()

        self._thread = threading.Thread(target=live, name=name, daemon=True)
        self._thread.start()
        begun.wait(_BEGIN_SECONDS)
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Stop the part and wait for it."""
        self._drive.end()
        self._thread.join(_STOP_SECONDS)

    @property
    def alive(self) -> bool:
        """Whether it still works."""
        return self._thread.is_alive()

    def _report(self, part: str, key: object, error: Exception) -> None:
        self.failures.append(f"{part} {key}: {type(error).__name__}: {error}")
