"""Starting a container: what may go wrong, and what is told then."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from tests.nodes.kubelet.bench import HOLD, Bench

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.runtime.protocol import Mount

NEVER: Tree = {"image": "missing:1", "imagePullPolicy": "Never"}
NO_MAP: Tree = {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}]}
ROOT: Tree = {"securityContext": {"runAsNonRoot": True, "runAsUser": 0}}


@dataclass
class Case:
    container: Tree
    reason: str
    events: list[str] = field(default_factory=list)


CASES = {
    "the image is not there and must not be pulled": Case(
        NEVER, "ErrImageNeverPull", ["ErrImageNeverPull", "Failed"]
    ),
    "the image cannot be pulled": Case(
        {"image": "missing:1"}, "ErrImagePull", ["Pulling", "Failed", "Failed", "BackOff"]
    ),
    "the image's name is none": Case(
        {"image": "no name"}, "InvalidImageName", ["InspectFailed", "Failed"]
    ),
    "a ConfigMap is missing": Case(NO_MAP, "CreateContainerConfigError", ["Pulled", "Failed"]),
    "it would run as root": Case(ROOT, "CreateContainerConfigError", ["Pulled", "Failed"]),
    "the runtime cannot make it": Case(
        {"command": ["unmakeable"]}, "CreateContainerError", ["Pulled", "Failed"]
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_container_that_cannot_be_started_waits_with_the_reason(bench: Bench, case: Case) -> None:
    bench.pod("p", case.container)

    assert bench.state("p")["state"]["waiting"]["reason"] == case.reason
    assert bench.status("p")["phase"] == "Pending"
    assert bench.reasons("p")[: len(case.events)] == case.events


def test_a_program_that_cannot_be_run_leaves_the_pod_running(bench: Bench) -> None:
    bench.pod("p", {"command": ["broken"]})
    told = bench.state("p")

    assert told["state"]["waiting"]["reason"] == "RunContainerError"
    assert told["lastState"]["terminated"]["reason"] == "StartError"
    assert bench.status("p")["phase"] == "Running"


def test_a_program_that_cannot_be_run_fails_a_pod_that_never_restarts(bench: Bench) -> None:
    bench.pod("p", {"command": ["broken"]}, restartPolicy="Never")

    assert bench.status("p")["phase"] == "Failed"
    assert bench.state("p")["state"]["terminated"]["exitCode"] == 128


def test_devices_that_are_not_ready_keep_a_container_from_being_made(bench: Bench) -> None:
    bench.devices.troubles["main"] = "device plugin PreStartContainer rpc failed"
    bench.pod("p")
    waits = bench.state("p")["state"]["waiting"]
    assert waits == {
        "reason": "CreateContainerConfigError",
        "message": "device plugin PreStartContainer rpc failed",
    }

    bench.devices.troubles.clear()
    bench.run(21)

    assert bench.status("p")["phase"] == "Running"


def test_the_pods_own_variable_wins_over_a_plugins(bench: Bench) -> None:
    bench.pod("p", {"env": [{"name": "GIFT", "value": "mine"}]}, {"name": "other"})
    told = {order.name: dict(order.environment)["GIFT"] for order in bench.runtime.orders.values()}

    assert told == {"main": "mine", "other": "1"}


def test_the_pods_own_mount_lies_over_a_plugins(bench: Bench) -> None:
    bench.devices.mounts = (Mount(host_path="/usr", container_path="/v"),)
    mounts = [{"name": "v", "mountPath": "/v"}]
    bench.pod("p", {"volumeMounts": mounts}, volumes=[{"name": "v", "emptyDir": {}}])
    (order,) = bench.runtime.orders.values()

    places = [each.host_path for each in order.mounts if each.container_path == "/v"]
    assert (places[0], places[1][-2:]) == ("/usr", "/v")


def test_a_pull_is_tried_again_after_its_back_off(bench: Bench) -> None:
    bench.pod("p", {"image": "missing:1"})
    assert bench.state("p")["state"]["waiting"]["reason"] == "ErrImagePull"
    bench.run(10.5)
    waits = bench.state("p")["state"]["waiting"]
    assert waits["reason"] in ("ImagePullBackOff", "ErrImagePull")

    bench.runtime.known.add("missing:1")
    bench.run(60)

    assert bench.status("p")["phase"] == "Running"


def test_what_always_pulls_pulls_though_the_image_is_there(bench: Bench) -> None:
    bench.pod("p", {"command": HOLD, "imagePullPolicy": "Always"})

    assert bench.reasons("p") == ["Pulling", "Pulled", "Created", "Started"]


def test_an_image_that_is_there_is_said_to_be(bench: Bench) -> None:
    bench.pod("p")

    assert bench.events("p")[0] == (
        "Pulled",
        'Container image "there:1" already present on machine and can be accessed by the pod',
    )
