from typing import Any

import msgspec

from windtunnel.controllers.job.tally import FINALIZER, Tally, all_failures, noted_number
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.views import PodView

NOW = 1_800_000_000.0
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def tally(spec: dict[str, Any], *pods: PodView, **status: Any) -> Tally:
    base = {"completions": 3, "template": {"spec": {"restartPolicy": "OnFailure"}}}
    tree = {"metadata": {"name": "j"}, "spec": {**base, **spec}, "status": status}
    job = msgspec.json.decode(msgspec.json.encode(tree), type=JobView)
    return Tally(job, pods, frozenset(), NOW)


def pod(name: str, phase: str = "Running", restarts: int = 0, **metadata: Any) -> PodView:
    tree = {
        "metadata": {"name": name, "uid": name, "finalizers": [FINALIZER], **metadata},
        "status": {"phase": phase, "containerStatuses": [{"restartCount": restarts}]},
    }
    return msgspec.convert(tree, PodView)


def index(number: int, **notes: str) -> dict[str, dict[str, str]]:
    return {"annotations": {"batch.kubernetes.io/job-completion-index": str(number), **notes}}


def test_a_deleted_pod_counts_as_failed_unless_replacements_wait_for_its_end() -> None:
    going = pod("a", deletionTimestamp="2027-01-15T08:00:00Z")

    assert tally({}, going).failures == 1
    assert tally({"podReplacementPolicy": "Failed"}, going).failures == 0


def test_what_is_noted_counts_once() -> None:
    noted = {"succeeded": ["a"], "failed": ["b"]}
    found = tally({}, pod("a", "Succeeded"), pod("b", "Failed"), uncountedTerminatedPods=noted)

    assert (found.succeeded, found.failures) == (1, 1)
    assert (found.fresh_succeeded, found.fresh_failed) == ([], [])


def test_a_succeeded_index_counts_once_however_many_pods_it_had() -> None:
    pods = [pod(name, "Succeeded", **index(1)) for name in "ab"]
    found = tally({"completionMode": "Indexed"}, *pods, completedIndexes="0")

    assert set(found.succeeded_indexes) == {0, 1}
    assert found.succeeded == 2


def test_restarts_of_living_pods_use_up_the_limit() -> None:
    assert tally({"backoffLimit": 3}, pod("a", restarts=2), pod("b", restarts=1)).restarts_exceed()
    assert not tally({"backoffLimit": 3}, pod("a", restarts=2)).restarts_exceed()
    assert not tally({"backoffLimit": 0}, pod("a")).restarts_exceed()


def test_an_index_waits_with_its_last_failure() -> None:
    spec = {"completionMode": "Indexed", "backoffLimitPerIndex": 5}
    first = pod("a", "Failed", **index(0, **{FAILURES: "0"}))
    second = pod("b", "Failed", **index(0, **{FAILURES: "1"}))
    replaced = pod("c", "Failed", **index(1)), pod("d", **index(1))
    found = tally(spec, second, first, *replaced).waiting_indexes()

    assert found == {0: second}


def test_counted_and_ignored_failures_of_an_index_add_up() -> None:
    one = pod("a", annotations={FAILURES: "2", IGNORED: "3"})

    assert (noted_number(one, FAILURES), all_failures(one)) == (2, 5)
    assert noted_number(pod("a", annotations={FAILURES: "x"}), FAILURES) == 0
