"""Tests of what is wrong with nodes, told once."""

from __future__ import annotations

from windtunnel.client.events import Subject
from windtunnel.gpu.status_updater.complaints import Complaints

NODE = Subject("Node", "n")
POD = Subject("Pod", "p", "ml")


class Told:
    """Takes Events."""

    def __init__(self) -> None:
        self.events: list[tuple[Subject, str, str]] = []

    def warning(self, subject: Subject, reason: str, message: str) -> None:
        self.events.append((subject, reason, message))


def visit(complaints: Complaints, *words: str) -> None:
    found = complaints.visit(NODE)
    for each in words:
        found.tell("Bad", each)
    complaints.end(found)


def test_what_holds_is_told_once_and_again_when_it_comes_back() -> None:
    told = Told()
    complaints = Complaints(told)  # type: ignore[arg-type]

    for words in (("a",), ("a", "b"), ("b",), ("a", "b")):
        visit(complaints, *words)

    assert [message for _, _, message in told.events] == ["a", "b", "a"]


def test_a_node_that_is_forgotten_is_told_of_anew() -> None:
    told = Told()
    complaints = Complaints(told)  # type: ignore[arg-type]
    visit(complaints, "a")

    complaints.forget("n")
    visit(complaints, "a")

    assert len(told.events) == 2


def test_long_words_are_cut_and_others_may_be_spoken_of() -> None:
    told = Told()
    found = Complaints(told).visit(NODE)  # type: ignore[arg-type]

    found.tell("Bad", "x" * 2000, POD)

    assert told.events == [(POD, "Bad", "x" * 1024)]
