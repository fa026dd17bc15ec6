"""The conditions of a pod, in the order and the words of the real ones."""

from __future__ import annotations

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.status.conditions import OWNED, conditions, merge_conditions

SIDE: Tree = {"name": "side", "restartPolicy": "Always"}
UP: Tree = {"ready": True, "started": True}
DOWN: Tree = {"ready": False, "started": False}


def told(statuses: dict[str, Tree], phase: str = "Running", **spec: list[Tree]) -> dict[str, str]:
    pod: Tree = {
        "metadata": {"generation": 3},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], **spec},
    }
    made = conditions(pod, statuses, phase, sandbox=True, begun=False)
    assert [each["type"] for each in made] == list(OWNED)
    assert {each["observedGeneration"] for each in made} == {3}
    return {each["type"]: each.get("message") or each.get("reason", "") for each in made}


def test_nothing_needs_words_when_all_is_well() -> None:
    assert set(told({"a": UP, "b": UP}).values()) == {""}


def test_containers_that_are_not_ready_are_named() -> None:
    found = told({"a": DOWN, "b": DOWN})

    assert found["Ready"] == "containers with unready status: [a b]"


def test_containers_that_nobody_knows_are_named_apart() -> None:
    found = told({"b": DOWN})

    assert found["ContainersReady"] == (
        "containers with unknown status: [a], containers with unready status: [b]"
    )


def test_a_sidecar_counts_for_both() -> None:
    found = told({"side": DOWN, "a": UP, "b": DOWN}, initContainers=[SIDE])

    assert found["Initialized"] == "containers with incomplete status: [side]"
    assert found["Ready"] == "containers with unready status: [side b]"


def test_a_pod_that_has_ended_says_how() -> None:
    assert told({"a": DOWN, "b": DOWN}, "Succeeded")["Initialized"] == "PodCompleted"
    assert told({"a": DOWN, "b": DOWN}, "Failed")["Ready"] == "PodFailed"


def test_a_time_changes_only_with_its_status() -> None:
    old = [{"type": "Mine", "status": "True"}, {"type": "Ready", "status": "False",
           "lastTransitionTime": "1"}]  # fmt: skip
    same = merge_conditions(old, [{"type": "Ready", "status": "False", "reason": "x"}], "2")
    other = merge_conditions(old, [{"type": "Ready", "status": "True"}], "2")

    assert [each["type"] for each in same] == ["Mine", "Ready"]
    assert same[1]["lastTransitionTime"] == "1"
    assert other[1]["lastTransitionTime"] == "2"
