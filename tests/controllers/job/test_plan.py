from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.controllers.job.backoff import Backoff
from windtunnel.controllers.job.creations import Creation
from windtunnel.controllers.job.plan import Plan, decide
from windtunnel.controllers.job.tally import FINALIZER
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.pods import AT_ONCE
from windtunnel.controllers.views import PodView
from windtunnel.machinery.timestamp import time_text

NOW = 1_800_000_000.0


def job(status: dict[str, Any] | None = None, **spec: Any) -> JobView:
    template = {"spec": {"restartPolicy": "Never"}}
    tree = {
        "metadata": {"name": "j", "namespace": "ns"},
        "spec": {"completions": 3, "parallelism": 3, "template": template, **spec},
        "status": {"startTime": time_text(NOW - 60), **(status or {})},
    }
    return msgspec.json.decode(msgspec.json.encode(tree), type=JobView)


def pod(name: str, phase: str = "Running", *, index: int | None = None, **metadata: Any) -> PodView:
    notes = {} if index is None else {"batch.kubernetes.io/job-completion-index": str(index)}
    notes |= metadata.pop("annotations", {})
    tree = {
        "metadata": {
            "name": name,
            "uid": name,
            "finalizers": [FINALIZER],
            "annotations": notes,
            "creationTimestamp": time_text(NOW - 60),
            **metadata,
        },
        "spec": {"nodeName": "n"},
        "status": {"phase": phase},
    }
    return msgspec.convert(tree, PodView)


def plan(one: JobView, *pods: PodView, backoff: Backoff | None = None, **more: Any) -> Plan:
    return decide(one, pods, backoff or Backoff(), NOW, **more)


def names(pods: Any) -> list[str]:
    return [pod.metadata.name for pod in pods]


def test_missing_pods_are_made() -> None:
    found = plan(job(), pod("a"))

    assert found.create == (Creation(), Creation())
    assert found.status.active == 3


def test_a_step_makes_only_so_many() -> None:
    found = plan(job(completions=1000, parallelism=1000))

    assert (len(found.create), found.again_in) == (AT_ONCE, 0.0)


def test_nothing_is_made_while_earlier_writes_are_unseen() -> None:
    assert plan(job(), may_act=False).create == ()


def test_nothing_is_made_while_the_backoff_lasts() -> None:
    found = plan(job(), pod("a"), backoff=Backoff(2, NOW - 5))

    assert (found.create, found.again_in, found.status.active) == ((), 15.0, 1)


def test_surplus_pods_go_and_never_count_as_failed() -> None:
    found = plan(job(parallelism=1), pod("a"), pod("b"))

    assert (names(found.delete), found.forgive) == (["a"], True)


def test_an_ended_pod_is_noted_before_it_is_let_go() -> None:
    found = plan(job(), pod("a", "Succeeded"), pod("b", "Failed"), pod("c"))

    assert found.counted == (["a"], ["b"])
    assert names(found.release) == ["a", "b"]


def test_a_pod_that_is_noted_already_is_not_noted_again() -> None:
    status = {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["b"]}}
    found = plan(job(status), pod("a", "Succeeded"), pod("b", "Failed"), pod("c"))

    assert found.counted == ([], [])
    assert names(found.release) == ["a", "b"]


def test_a_pod_without_finalizer_was_counted_before() -> None:
    found = plan(job({"succeeded": 1}), pod("a", "Succeeded", finalizers=[]), pod("b"), pod("c"))

    assert (found.release, found.create) == ([], ())


def test_failing_stops_the_others_and_waits_for_them() -> None:
    found = plan(job(backoffLimit=0), pod("a", "Failed"), pod("b"))

    assert found.interim is not None
    assert found.ending is not None
    assert (found.interim.type, found.ending.type) == ("FailureTarget", "Failed")
    assert (names(found.delete), found.forgive) == (["b"], False)
    assert found.counted[1] == ["a", "b"]
    assert found.status.terminating == 1


def test_success_needs_every_completion() -> None:
    done = [pod(name, "Succeeded") for name in "abc"]

    assert plan(job(), *done[:2], pod("c")).ending is None
    ending = plan(job(), *done).ending
    assert ending is not None
    assert ending.reason == "CompletionsReached"


def test_without_completions_one_success_is_enough_once_all_have_ended() -> None:
    queue = job(completions=None)

    assert plan(queue, pod("a", "Succeeded"), pod("b")).create == ()
    assert plan(queue, pod("a", "Succeeded"), pod("b", "Succeeded")).ending is not None


def test_a_duplicate_index_goes() -> None:
    indexed = job(completionMode="Indexed")
    older = pod("a", index=0, creationTimestamp=time_text(NOW - 90))
    found = plan(indexed, pod("b", index=0), older, pod("c", index=1))

    assert names(found.delete) == ["b"]


def test_a_failed_index_is_tried_again_after_a_wait_of_its_own() -> None:
    indexed = job(completionMode="Indexed", completions=2, backoffLimitPerIndex=1)
    failed = pod("a", "Failed", index=0)
    recent = decide(indexed, [failed, pod("b", index=1)], Backoff(), NOW + 1)
    assert recent.create == ()
    assert recent.release == []

    ended = {"type": "Ready", "status": "False", "lastTransitionTime": time_text(NOW - 11)}
    tree = msgspec.to_builtins(failed)
    tree["status"]["conditions"] = [ended]
    found = plan(indexed, msgspec.convert(tree, PodView), pod("b", index=1))

    assert found.create == (Creation(0, 1),)


def test_an_index_that_failed_too_often_is_given_up() -> None:
    indexed = job(completionMode="Indexed", completions=2, backoffLimitPerIndex=1)
    lost = pod(
        "a", "Failed", index=0, annotations={"batch.kubernetes.io/job-index-failure-count": "1"}
    )
    found = plan(indexed, lost, pod("b", index=1))

    assert found.status.failed_indexes == "0"
    assert found.create == ()


phases = st.sampled_from(["Pending", "Running", "Succeeded", "Failed"])


@given(
    living=st.lists(st.tuples(phases, st.booleans(), st.booleans()), max_size=8),
    completions=st.integers(0, 6),
    parallelism=st.integers(0, 6),
    counted=st.integers(0, 3),
)
def test_a_visit_never_overshoots(
    living: list[tuple[str, bool, bool]], completions: int, parallelism: int, counted: int
) -> None:
    pods = [
        pod(
            f"p{number}",
            phase,
            finalizers=[FINALIZER] if tracked else [],
            deletionTimestamp=time_text(NOW) if deleting else None,
        )
        for number, (phase, tracked, deleting) in enumerate(living)
    ]
    one = job({"succeeded": counted}, completions=completions, parallelism=parallelism)
    found = decide(one, pods, Backoff(), NOW)

    active = sum(each.active for each in pods)
    succeeded = counted + sum(phase == "Succeeded" and tracked for phase, tracked, _ in living)
    assert not (found.create and found.delete)
    assert len(found.delete) <= active
    if found.create:
        assert active + len(found.create) <= parallelism
        assert succeeded + active + len(found.create) <= completions
    noted = [*found.counted[0], *found.counted[1]]
    assert len(noted) == len(set(noted))


@pytest.mark.parametrize(
    ("failures", "wait"), [(1, 10.0), (2, 20.0), (3, 40.0), (7, 600.0), (99, 600.0)]
)
def test_each_failure_doubles_the_wait(failures: int, wait: float) -> None:
    assert Backoff(failures, NOW).remaining(NOW) == wait
