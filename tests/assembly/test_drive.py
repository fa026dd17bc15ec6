"""Steps and requests take turns on one thread, and idleness costs nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

from windtunnel.assembly.drive import Drive
from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import Loop, WallClock


class Counted(Loop):
    """A loop that counts how often it is run."""

    turns = 0

    def run_due(self, budget_seconds: float = float("inf")) -> bool:
        self.turns += 1
        return super().run_due(budget_seconds)


def play(scenario: Callable[[Counted, list[Exception]], Awaitable[None]]) -> Counted:
    loop = Counted(WallClock())

    async def run() -> None:
        crashes: list[Exception] = []
        drive = Drive(loop, crashes.append)
        await scenario(loop, crashes)
        drive.stop()

    asyncio.run(run())
    return loop


def test_a_due_step_is_played() -> None:
    async def scenario(loop: Counted, _: list[Exception]) -> None:
        played = asyncio.Event()
        loop.call_soon(played.set)
        await asyncio.wait_for(played.wait(), 5)

    play(scenario)


def test_steps_scheduled_before_the_drive_began_are_played() -> None:
    loop = Loop(WallClock())
    played: list[int] = []
    loop.call_soon(lambda: played.append(1))

    async def run() -> None:
        drive = Drive(loop, lambda _: None)
        while not played:
            await asyncio.sleep(0)
        drive.stop()

    asyncio.run(run())


def test_a_later_step_comes_in_its_time_and_an_earlier_one_before_it() -> None:
    async def scenario(loop: Counted, _: list[Exception]) -> None:
        order: list[str] = []
        done = asyncio.Event()
        loop.call_after(0.03, lambda: (order.append("late"), done.set()))
        loop.call_after(0.01, lambda: order.append("early"))
        await asyncio.wait_for(done.wait(), 5)
        assert order == ["early", "late"]

    play(scenario)


def test_a_step_posted_by_another_thread_is_played_on_the_owners() -> None:
    async def scenario(loop: Counted, _: list[Exception]) -> None:
        played: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        thread = threading.Thread(
            target=loop.post, args=(lambda: played.set_result(threading.get_ident()),)
        )
        thread.start()
        assert await asyncio.wait_for(played, 5) == threading.get_ident()
        thread.join()

    play(scenario)


def test_an_idle_loop_is_never_run() -> None:
    async def scenario(loop: Counted, _: list[Exception]) -> None:
        loop.call_after(3600, lambda: None)
        for _turn in range(100):
            await asyncio.sleep(0)

    assert play(scenario).turns == 0


def test_a_long_line_of_steps_lets_others_have_their_turn() -> None:
    async def scenario(loop: Counted, _: list[Exception]) -> None:
        left = 40

        def step() -> None:
            nonlocal left
            until = time.monotonic() + 0.001
            while time.monotonic() < until:
                pass
            left -= 1
            if left:
                loop.call_soon(step)

        loop.call_soon(step)
        turns = 0
        while left:
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 8

    play(scenario)


def test_an_exception_in_a_step_stops_the_drive_and_is_told() -> None:
    async def scenario(loop: Counted, crashes: list[Exception]) -> None:
        def broken() -> None:
            raise BrokenInvariant("two and two are five")

        played: list[int] = []
        loop.call_soon(broken)
        loop.call_soon(lambda: played.append(1))
        while not crashes:
            await asyncio.sleep(0)
        for _turn in range(10):
            await asyncio.sleep(0)
        assert [str(error) for error in crashes] == ["two and two are five"]
        assert played == []

    play(scenario)
