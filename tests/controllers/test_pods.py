from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.controllers.pods import deletion_cost, patience, pick_victims, slow_start
from windtunnel.controllers.views import PodView
from windtunnel.machinery.timestamp import time_text

NOW = 1_800_000_000.0


def pod(
    name: str,
    *,
    node: str = "n1",
    phase: str = "Running",
    ready_for: float | None = 100,
    cost: str = "",
    restarts: int = 0,
    age: float = 1000,
) -> PodView:
    conditions: list[dict[str, Any]] = []
    if ready_for is not None:
        since = time_text(NOW - ready_for)
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    notes = {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {}
    tree = {
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": time_text(NOW - age),
            "annotations": notes,
        },
        "spec": {"nodeName": node},
        "status": {
            "phase": phase,
            "conditions": conditions,
            "containerStatuses": [{"name": "c", "restartCount": restarts}],
        },
    }
    return msgspec.convert(tree, PodView)


VICTIMS = {
    "one without a node goes before any other": (pod("b", node=""), pod("a", phase="Pending")),
    "a pending one goes before a running one": (pod("b", phase="Pending"), pod("a")),
    "one that is not ready goes before a ready one": (pod("b", ready_for=None), pod("a")),
    "a cheaper one goes first": (pod("b", cost="-5"), pod("a")),
    "one on a crowded node goes first": (pod("b", node="full"), pod("a")),
    "one that became ready lately goes first": (pod("b", ready_for=10), pod("a", ready_for=500)),
    "one that restarted more goes first": (pod("b", restarts=3), pod("a")),
    "a younger one goes first": (pod("b", age=100), pod("a")),
    "ages of one magnitude are told apart by uid": (
        pod("a", ready_for=100), pod("b", ready_for=99, restarts=9),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("victim", "survivor"), VICTIMS.values(), ids=VICTIMS.keys())
def test_the_victim(victim: PodView, survivor: PodView) -> None:
    crowd = {"n1": 1, "full": 2}
    for order in ([victim, survivor], [survivor, victim]):
        assert pick_victims(order, 1, crowd, NOW) == [victim]


def test_exact_times_know_no_magnitude() -> None:
    older, younger = pod("a", ready_for=100), pod("b", ready_for=99)

    assert pick_victims([older, younger], 1, {}, NOW, by_magnitude=False) == [younger]


@pytest.mark.parametrize(
    ("text", "want"),
    [("", 0), ("7", 7), ("-7", -7), ("+7", 0), ("07", 0), ("x", 0), ("2147483648", 0)],
)
def test_nonsense_costs_nothing(text: str, want: int) -> None:
    assert deletion_cost(pod("a", cost=text)) == want


@given(fails_at=st.integers(0, 40), count=st.integers(0, 40))
def test_a_slow_start_stops_after_the_first_batch_with_a_failure(fails_at: int, count: int) -> None:
    asked: list[int] = []

    def make(number: int) -> Exception | None:
        asked.append(number)
        return ValueError() if number >= fails_at else None

    made, failure = slow_start(count, make)

    assert made == min(fails_at, count)
    assert (failure is not None) == (fails_at < count)
    assert len(asked) <= 2 * fails_at + 1 or failure is None


def test_what_is_refused_from_the_start_is_asked_for_once() -> None:
    asked: list[int] = []

    def make(number: int) -> Exception:
        asked.append(number)
        return ValueError()

    slow_start(100, make)

    assert asked == [0]


@pytest.mark.parametrize(("size", "want"), [(0, 0.0), (40, 0.0), (1000, 0.5), (5000, 2.5)])
def test_who_has_much_to_look_at_waits_for_more(size: int, want: float) -> None:
    assert patience(size) == want
