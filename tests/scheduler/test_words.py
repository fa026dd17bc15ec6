"""Notes of events."""

from __future__ import annotations

from tests.build import pod

from windtunnel.scheduler import words


def test_a_note_ends_at_1024_bytes_and_shows_the_cut() -> None:
    assert words.cut("x" * 1024) == "x" * 1024
    assert words.cut("x" * 1025) == "x" * 1020 + " ..."


def test_a_cut_never_splits_a_character() -> None:
    cut = words.cut("ü" * 600)

    assert len(cut.encode()) <= 1024
    assert cut.endswith("ü ...")


def test_the_words_are_the_real_schedulers() -> None:
    one = pod("p")

    assert words.bound(one, "n").text == "Successfully assigned default/p to n"
    assert words.preempted(one, "n").text == "Preempted by pod uid-p on node n"
    assert words.skipped(one) == "skip schedule deleting pod: default/p"
    assert words.disruption(one) == (
        "PreemptionByScheduler",
        "default-scheduler: preempting to accommodate a higher priority pod",
    )
