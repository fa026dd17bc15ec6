"""Calls on threads of their own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from windtunnel.nodes.kubelet.streams.beside import beside


def test_what_comes_of_a_call_is_the_future_s() -> None:
    async def run() -> tuple[int, str]:
        with pytest.raises(OSError, match="no"):
            await beside(_fail)
        return await beside(lambda: 1), await beside(lambda: threading.current_thread().name)

    assert asyncio.run(run()) == (1, "beside")


def test_a_call_may_outlive_whoever_wanted_it() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def call() -> None:
        go_on.wait(10)
        ended.set()

    async def run() -> None:
        beside(call).cancel()

    asyncio.run(run())
    go_on.set()

    assert ended.wait(10)


def _fail() -> None:
    raise OSError("no")
