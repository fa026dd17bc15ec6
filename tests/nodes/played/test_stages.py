from typing import Any

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.played.language import Scene
from windtunnel.nodes.played.stages import (
    After,
    Stage,
    StageDocument,
    choose,
    compile_stage,
    load_stages,
    seconds_of,
)

NAMES: dict[str, Any] = {name: name for name in ("nodeIP", "hostIP", "podIP", "version")}
NAMES |= {"now": "2027-01-15T08:00:00Z", "hostIPs": [], "podIPs": []}


def stage(name: str, weight: Any = 0, **when: Any) -> Stage:
    return compile_stage(StageDocument(name=name, resource="pods", when=when, weight=weight))


def chosen(stages: list[Stage], tree: Tree, draw: float = 0.0) -> str:
    matching = [each for each in stages if each.matches(tree)]
    return choose(matching, Scene(tree, NAMES), lambda: draw).name


def test_a_stage_that_matches_alone_is_played_whatever_its_weight() -> None:
    assert chosen([stage("a", a="exists"), stage("b", b="exists")], {"b": 1}) == "b"


@pytest.mark.parametrize(("draw", "want"), [(0.0, "a"), (0.24, "a"), (0.26, "b"), (0.99, "b")])
def test_chance_decides_by_weight(draw: float, want: str) -> None:
    assert chosen([stage("a", 1), stage("b", 3), stage("c", 0)], {}, draw) == want


@pytest.mark.parametrize(("draw", "want"), [(0.1, "a"), (0.9, "b")])
def test_without_weights_all_are_equal(draw: float, want: str) -> None:
    assert chosen([stage("a"), stage("b")], {}, draw) == want


def test_a_weight_that_cannot_be_read_never_wins_over_one_that_can() -> None:
    assert chosen([stage("a", "heavy"), stage("b", "0x10")], {}, 0.0) == "b"


SECONDS = [
    (None, None), ("", None), (2, 2.0), ("1m30s", 90.0), ("250ms", 0.25), ("soon", None),
    ("2027-01-15T08:00:07Z", 7.0), ("2026-01-15T08:00:07Z", 0.0), ("5", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "want"), SECONDS)
def test_a_delay_is_read(value: Any, want: float | None) -> None:
    assert seconds_of(value, NAMES["now"]) == want


@pytest.mark.parametrize(
    ("after", "want"),
    [
        (After(), 0.0),
        (After(4), 4.0),
        (After(4, 8), 6.0),
        (After(8, 4), 4.0),
        (After("$x", 2), 1.0),
    ],
)
def test_a_delay_lies_between_its_bounds(after: After, want: float) -> None:
    document = StageDocument(name="a", resource="pods", when={}, after=after)

    assert compile_stage(document).delay(Scene({}, NAMES), lambda: 0.5) == want


def test_every_stage_of_the_package_compiles() -> None:
    assert {each.resource for each in load_stages()} == {"nodes", "pods"}


def play(resource: str, tree: Tree) -> tuple[str, Tree]:
    stages = [each for each in load_stages() if each.resource == resource]
    scene = Scene(tree, NAMES)
    found = choose([each for each in stages if each.matches(tree)], scene, lambda: 0.5)
    return found.name, found.status(scene) if found.status is not None else {}


def test_a_pending_pod_runs() -> None:
    gates = [{"conditionType": "example.com/gate"}]
    init = [{"name": "i", "image": "x"}, {"name": "s", "image": "y", "restartPolicy": "Always"}]
    spec = {
        "containers": [{"name": "c", "image": "app:1"}],
        "initContainers": init,
        "readinessGates": gates,
    }
    name, status = play("pods", {"metadata": {}, "spec": spec, "status": {"phase": "Pending"}})

    assert (name, status["phase"], status["podIP"]) == ("pod-ready", "Running", "podIP")
    assert [each["type"] for each in status["conditions"]] == [
        "Initialized", "Ready", "ContainersReady", "example.com/gate",
    ]  # fmt: skip
    assert status["containerStatuses"] == [
        {
            "name": "c",
            "image": "app:1",
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": "2027-01-15T08:00:00Z"}},
        }
    ]
    assert [next(iter(each["state"])) for each in status["initContainerStatuses"]] == [
        "terminated",
        "running",
    ]


def test_a_running_pod_of_a_job_is_done() -> None:
    owners = [{"kind": "Job"}]
    tree = {"metadata": {"ownerReferences": owners}, "spec": {}, "status": {"phase": "Running"}}
    name, status = play("pods", tree)

    assert (name, status["phase"]) == ("pod-complete", "Succeeded")
    assert "conditions" not in status


def test_a_pod_with_the_chaos_label_fails_instead() -> None:
    label = "pod-container-running-failed.stage.kwok.x-k8s.io"
    metadata = {
        "labels": {label: "true"},
        "annotations": {f"{label}/container-name": "c", f"{label}/exit-code": "42"},
        "ownerReferences": [{"kind": "Job"}],
    }
    containers = [{"name": "c", "image": "x"}, {"name": "d", "image": "y"}]
    tree = {
        "metadata": metadata,
        "spec": {"containers": containers},
        "status": {"phase": "Running"},
    }
    name, status = play("pods", tree)

    assert (name, status["phase"]) == ("pod-container-running-failed", "Failed")
    ended, running = status["containerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 42
    assert ended["state"]["terminated"]["reason"] == "containerFailed"
    assert running["ready"] is True


def test_a_fresh_node_keeps_what_it_brought() -> None:
    status = {"capacity": {"cpu": "8"}, "nodeInfo": {"kernelVersion": "6.1"}}
    name, written = play("nodes", {"metadata": {"name": "n"}, "status": status})

    assert name == "node-initialize"
    assert written["capacity"] == {"cpu": "8", "memory": "1Ti", "pods": "1M"}
    assert written["nodeInfo"]["kernelVersion"] == "6.1"
    assert written["nodeInfo"]["operatingSystem"] == "linux"
    assert written["addresses"] == [
        {"type": "InternalIP", "address": "nodeIP"},
        {"type": "Hostname", "address": "n"},
    ]
    assert {each["type"]: each["status"] for each in written["conditions"]} == {
        "Ready": "True",
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "NetworkUnavailable": "False",
    }
