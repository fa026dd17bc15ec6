"""Questions stand in line, those that may pass do, and a failed call is theirs to bear."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from windtunnel.kernel import Loop, VirtualClock
from windtunnel.nodes.kubelet.devices.questions import QuestionLine, Questions
from windtunnel.nodes.kubelet.outside import Outside


class Asked:
    """A line, and what was asked and came of it, in order."""

    def __init__(self) -> None:
        self.loop = Loop(VirtualClock())
        self.line = QuestionLine(self.loop, Outside(self.loop, threads=0))
        self.told: list[str] = []

    def questions(self, name: str, calls: int = 2) -> Questions[str]:
        for number in range(calls):
            self.told.append((yield lambda number=number: f"{name}{number}"))
        return f"{name} is over"

    def append(self, name: str) -> None:
        self.line.append(self.questions(name), self.told.append)


def test_who_comes_second_asks_when_the_first_is_over() -> None:
    asked = Asked()
    asked.line.open()
    asked.append("a")
    asked.append("b")

    asked.loop.run_virtual()

    assert asked.told == ["a0", "a1", "a is over", "b0", "b1", "b is over"]


def test_who_plays_past_the_line_does_not_wait() -> None:
    asked = Asked()
    asked.line.open()
    asked.append("a")
    asked.line.play(asked.questions("x", calls=1), asked.told.append)

    asked.loop.run_virtual()

    assert asked.told.index("x is over") < asked.told.index("a is over")


def test_what_a_call_raises_is_thrown_to_the_questions() -> None:
    def questions() -> Generator[Any, Any, str]:
        try:
            yield lambda: 1 // 0
        except ZeroDivisionError:
            return "borne"
        return "missed"

    asked = Asked()
    asked.line.open()
    asked.line.append(questions(), asked.told.append)

    asked.loop.run_virtual()

    assert asked.told == ["borne"]


def test_a_line_that_is_closed_moves_no_more() -> None:
    asked = Asked()
    asked.append("early")
    asked.loop.run_virtual()
    assert asked.told == []

    asked.line.close()
    asked.line.open()
    asked.append("a")
    asked.loop.run_virtual()

    assert asked.told == ["a0", "a1", "a is over"]
