"""The runtime's thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from windtunnel.nodes.kubelet.runtime.keeper import Keeper


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    keeper = Keeper(lambda: False, 0.01)
    yield keeper
    keeper.close()


def test_work_is_done_on_its_thread_and_answers_or_raises(keeper: Keeper) -> None:
    assert keeper.do(threading.current_thread) is not threading.current_thread()
    assert keeper.do(lambda: keeper.do(lambda: 3)) == 3
    with pytest.raises(ZeroDivisionError):
        keeper.do(lambda: 1 // 0)


def test_what_fails_is_reported_and_stops_nothing(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: seen.set())
    reading, writing = os.pipe()
    keeper.do(lambda: keeper.watch(reading, lambda: keeper.leave(reading) or 1 // 0))
    os.write(writing, b"x")

    assert seen.wait(5)
    assert keeper.do(lambda: 1) == 1
    os.close(writing)


def test_it_looks_until_there_is_nothing_to_look_at() -> None:
    looks, done = [], threading.Event()

    def look() -> bool:
        looks.append(1)
        if len(looks) == 3:
            done.set()
        return len(looks) < 3

    keeper = Keeper(look, 0.001)
    keeper.do(keeper.look_again)

    assert done.wait(5)
    keeper.close()
    assert len(looks) == 3
