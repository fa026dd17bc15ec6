"""The work queue holds each key once, and failures come back later and later."""

from __future__ import annotations

from windtunnel.kernel import Loop, VirtualClock, WorkQueue


def queue() -> tuple[Loop, WorkQueue[str], list[str]]:
    loop = Loop(VirtualClock())
    calls: list[str] = []
    return loop, WorkQueue(loop, lambda: calls.append("ready")), calls


def test_ten_changes_cost_one_visit() -> None:
    _, line, calls = queue()
    for _ in range(10):
        line.add("a")

    assert (len(line), line.take(), line.take(), calls) == (1, ["a"], [], ["ready"])


def test_keys_are_taken_in_the_order_they_came() -> None:
    _, line, _ = queue()
    for key in ("b", "a", "b", "c"):
        line.add(key)

    assert line.take(2) + line.take(2) == ["b", "a", "c"]


def test_who_is_to_stand_in_line_later_is_counted_once() -> None:
    loop, line, _ = queue()
    for _ in range(2):
        line.add_after("a", 1)
    line.add_after("b", 2)

    assert line.waiting == 2
    loop.run_virtual(1)
    assert (line.waiting, len(line)) == (1, 1)


def test_the_earlier_of_two_delays_wins() -> None:
    loop, line, _ = queue()
    line.add_after("a", 10)
    line.add_after("a", 5)
    line.add_after("a", 20)

    loop.run_virtual(until=5)
    assert line.take() == ["a"]
    loop.run_virtual(until=30)
    assert line.take() == []


def test_backoff_doubles_until_forgotten() -> None:
    loop, line, _ = queue()
    waits = [line.add_failed("a") for _ in range(4)]
    assert waits == [0.005, 0.01, 0.02, 0.04]
    assert line.failures("a") == 4

    line.forget("a")
    loop.run_virtual()

    assert line.add_failed("a") == 0.005


def test_backoff_has_a_ceiling() -> None:
    _, line, _ = queue()
    waits = [line.add_failed("a") for _ in range(70)]
    assert waits[-1] == 1000.0


def test_an_immediate_delay_joins_the_line_at_once() -> None:
    _, line, _ = queue()
    line.add_after("a", 0)
    assert line.take() == ["a"]
