"""How long something that failed again has to wait."""

from __future__ import annotations

from windtunnel.nodes.kubelet.delays import Delays

KEY = ("uid", "main")


def test_the_first_failure_waits_for_nothing() -> None:
    assert Delays(10, 300).wait(KEY, event=0, now=0) == 0


def test_failures_in_quick_succession_double_the_delay() -> None:
    backoff, delays = Delays(10, 300), []
    for now in (0, 10, 30, 70, 150, 310, 610):
        backoff.note(KEY, now, now)
        delays.append(backoff.delay(KEY))

    assert delays == [10, 20, 40, 80, 160, 300, 300]


def test_what_remains_counts_from_the_event() -> None:
    backoff = Delays(10, 300)
    backoff.note(KEY, 0, 0)

    assert backoff.wait(KEY, event=100, now=104) == 6
    assert backoff.wait(KEY, event=100, now=111) == 0


def test_a_long_peace_forgets_everything() -> None:
    backoff = Delays(10, 300)
    for _ in range(4):
        backoff.note(KEY, 0, 0)

    assert backoff.wait(KEY, event=601, now=601) == 0
    backoff.note(KEY, 601, 601)
    assert backoff.delay(KEY) == 10


def test_all_keys_of_a_pod_are_forgotten_together() -> None:
    backoff = Delays(10, 300)
    backoff.note(KEY, 0, 0)
    backoff.note(("other", "main"), 0, 0)
    backoff.forget("uid")

    assert (backoff.delay(KEY), backoff.delay(("other", "main"))) == (0, 10)
