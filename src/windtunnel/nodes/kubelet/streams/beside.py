"""Blocking calls beside the event loop: a thread each, for some of them block for hours.

Pools are of no use here: every program that runs in a container keeps several threads waiting.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def beside(call: Callable[[], T]) -> asyncio.Future[T]:
    """Call on a thread of its own; what comes of it is the future's.

    Nobody need wait for it: a call that is of no interest any more ends by itself, at the latest
    with the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def succeed(result: T) -> None:
        if not done.done():
            done.set_result(result)

    def fail(error: Exception) -> None:
        if not done.done():
            done.set_exception(error)

    def run() -> None:
        try:
            result = call()
        except Exception as error:
            with suppress(RuntimeError):  # the loop may have ended meanwhile
                loop.call_soon_threadsafe(fail, error)
        else:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(succeed, result)

    threading.Thread(target=run, daemon=True, name="beside").start()
    return done
