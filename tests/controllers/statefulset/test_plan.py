from typing import Any

import msgspec
import pytest

from windtunnel.controllers.pods import AT_ONCE
from windtunnel.controllers.statefulset.plan import Standing, by_ordinal, count, decide
from windtunnel.controllers.statefulset.views import StatefulSetView
from windtunnel.controllers.views import PodView
from windtunnel.machinery.timestamp import time_text

NOW = 1_800_000_000.0


def stateful_set(replicas: int = 3, **spec: Any) -> StatefulSetView:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": spec.pop("partition", 0)}}
    tree = {
        "metadata": {"name": "db", "generation": 7},
        "spec": {"replicas": replicas, "updateStrategy": strategy, **spec},
    }
    return msgspec.convert(tree, StatefulSetView)


def pod(number: int, state: str = "up", revision: str = "new", age: int = 60) -> PodView:
    """``state``: up, starting, failed or going."""
    condition = {
        "type": "Ready",
        "status": "True" if state in ("up", "going") else "False",
        "lastTransitionTime": time_text(NOW - age),
    }
    tree: dict[str, Any] = {
        "metadata": {"name": f"db-{number}", "labels": {"controller-revision-hash": revision}},
        "status": {
            "phase": "Failed" if state == "failed" else "Running",
            "conditions": [condition],
        },
    }
    if state == "going":
        tree["metadata"]["deletionTimestamp"] = time_text(NOW)
    return msgspec.convert(tree, PodView)


def standing(view: StatefulSetView, *pods: PodView, present: str = "old") -> Standing:
    return Standing(view, by_ordinal(view, pods), present, "new", NOW)


ORDERED, PARALLEL = stateful_set(), stateful_set(podManagementPolicy="Parallel")
MOST = 2**31 - 1
ON_DELETE = stateful_set(updateStrategy={"type": "OnDelete"})
PLANS: dict[str, tuple[Standing, list[int], list[int]]] = {
    "the first one alone": (standing(ORDERED), [0], []),
    "all at once": (standing(PARALLEL), [0, 1, 2], []),
    "a few at a time where very many are wanted": (
        standing(stateful_set(MOST, podManagementPolicy="Parallel"), pod(0)),
        list(range(1, AT_ONCE + 1)),
        [],
    ),
    "one where very many are wanted in order": (standing(stateful_set(MOST), pod(0)), [1], []),
    "the next one, once the first is up": (standing(ORDERED, pod(0)), [1], []),
    "nothing while the first starts": (standing(ORDERED, pod(0, "starting")), [], []),
    "all others while the first starts": (standing(PARALLEL, pod(0, "starting")), [1, 2], []),
    "nothing while the first goes": (standing(ORDERED, pod(0, "going")), [], []),
    "one that failed goes first": (standing(ORDERED, pod(0, "failed"), pod(1)), [], [0]),
    "the highest goes first": (standing(stateful_set(1), *map(pod, range(3))), [], [2]),
    "and holds the others up": (
        standing(stateful_set(1), pod(0), pod(1), pod(2, "going")), [], []
    ),
    "all superfluous ones at once": (
        standing(stateful_set(1, podManagementPolicy="Parallel"), *map(pod, range(3))), [], [2, 1]
    ),
    "none goes while a lower one is down": (
        standing(stateful_set(1), pod(0), pod(1, "starting"), pod(2, "starting")), [], []
    ),
    "the one that is down may go itself": (
        standing(stateful_set(1), pod(0), pod(1), pod(2, "starting")), [], [2]
    ),
    "an update begins at the top": (
        standing(ORDERED, *(pod(number, revision="old") for number in range(3))), [], [2]
    ),
    "and waits until that one is up": (
        standing(ORDERED, pod(0, revision="old"), pod(1, revision="old"), pod(2, "starting")),
        [], [],
    ),
    "then goes on downwards": (
        standing(ORDERED, pod(0, revision="old"), pod(1, revision="old"), pod(2)), [], [1]
    ),
    "down to the partition": (
        standing(stateful_set(partition=2), pod(0, revision="old"), pod(1, revision="old"), pod(2)),
        [], [],
    ),
    "not at all where nobody is to": (
        standing(ON_DELETE, *(pod(number, revision="old") for number in range(3))), [], []
    ),
    "counting from elsewhere": (
        standing(stateful_set(2, ordinals={"start": 5}), pod(5), pod(0)), [6], []
    ),
    "one that is not ready for long enough holds the next up": (
        standing(stateful_set(minReadySeconds=90), pod(0, age=60)), [], []
    ),
}  # fmt: skip


@pytest.mark.parametrize(("at", "create", "delete"), PLANS.values(), ids=PLANS)
def test_a_visit_does(at: Standing, create: list[int], delete: list[int]) -> None:
    plan = decide(at)

    assert [creation.ordinal for creation in plan.create] == create
    assert [pod.metadata.name for pod in plan.delete] == [f"db-{number}" for number in delete]


@pytest.mark.parametrize(
    ("view", "want"),
    [(stateful_set(partition=1), [False, True, True]), (ON_DELETE, [True, True, True])],
)
def test_a_pod_below_the_partition_comes_back_as_it_was(
    view: StatefulSetView, want: list[bool]
) -> None:
    view = msgspec.structs.replace(
        view, spec=msgspec.structs.replace(view.spec, pod_management_policy="Parallel")
    )

    assert [creation.updated for creation in decide(standing(view)).create] == want


def test_as_many_may_be_away_as_is_said() -> None:
    rolling = {"partition": 0, "maxUnavailable": "50%"}
    view = stateful_set(5, updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling})

    plan = decide(standing(view, *(pod(number, revision="old") for number in range(5))))

    assert [each.metadata.name for each in plan.delete] == ["db-4", "db-3"]


def test_going_pods_are_counted_but_are_of_no_revision() -> None:
    status = count(standing(ORDERED, pod(0, revision="old"), pod(1), pod(2, "going")), 0)

    assert (status.replicas, status.ready_replicas, status.available_replicas) == (3, 3, 3)
    assert (status.current_replicas, status.updated_replicas) == (1, 1)
    assert (status.current_revision, status.update_revision) == ("old", "new")
    assert (status.observed_generation, status.collision_count) == (7, 0)


def test_the_new_revision_is_the_present_one_once_all_pods_have_it() -> None:
    whole = count(standing(ORDERED, *map(pod, range(3))), 0)
    partly = count(standing(ORDERED, pod(0), pod(1), pod(2, "starting")), 0)
    by_hand = count(standing(ON_DELETE, *map(pod, range(3))), 0)

    assert (whole.current_revision, whole.current_replicas) == ("new", 3)
    assert (partly.current_revision, partly.current_replicas) == ("old", 0)
    assert (by_hand.current_revision, by_hand.current_replicas) == ("old", 0)
