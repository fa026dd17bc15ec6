"""The life of a pod on its node, from its first status to its last."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.nodes.kubelet.bench import HOLD, Bench

from windtunnel.machinery.tree import Key
from windtunnel.nodes.kubelet.devices.admission import Rejected
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, ContainerState
from windtunnel.nodes.kubelet.sandboxes import Sandboxes


def test_a_pod_is_accepted_before_anything_runs(bench: Bench) -> None:
    bench.pod("p")

    assert bench.story("p") == ["Pending none", "Pending ContainerCreating", "Running running"]


def test_an_address_comes_with_the_first_container(bench: Bench) -> None:
    bench.pod("p")
    first, *_, last = [each for each in bench.statuses["p"] if "hostIP" in each]

    assert "podIP" not in first
    assert last["podIP"] == "10.42.0.1"
    assert last["podIPs"] == [{"ip": "10.42.0.1"}]


def test_a_terminal_phase_waits_until_everything_has_stopped(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "1", "3"]}, restartPolicy="Never")
    bench.run(2)

    assert bench.story("p")[2:] == ["Running running", "Running Error", "Failed Error"]
    assert bench.condition("p", "PodReadyToStartContainers") == ("False", "")
    assert bench.condition("p", "Ready") == ("False", "PodFailed")


def test_a_back_off_is_told_when_it_has_passed(bench: Bench) -> None:
    bench.pod("p", {"command": ["broken"]})
    bench.run(8)
    assert bench.story("p")[-1] == "Running RunContainerError"
    assert bench.state("p")["restartCount"] == 1
    assert "BackOff" in dict(bench.events("p"))

    bench.run(4)

    assert bench.story("p")[-2:] == ["Running CrashLoopBackOff", "Running RunContainerError"]
    assert bench.state("p")["restartCount"] == 2


BACK_OFFS = {
    "after runs of no time, soon": (["exit", "1"], 1.5, "Running CrashLoopBackOff"),
    "after runs of some time, when it has passed": (
        ["sleep", "1", "1"], 9, "Running Error",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("command", "after", "want"), BACK_OFFS.values(), ids=BACK_OFFS)
def test_when_a_back_off_is_told(bench: Bench, command: list[str], after: float, want: str) -> None:
    bench.pod("p", {"command": command})
    bench.run(after)

    assert bench.state("p")["restartCount"] == 1
    assert bench.story("p")[-1] == want


def test_only_the_first_back_off_is_told_soon(bench: Bench) -> None:
    bench.pod("p", {"command": ["exit", "1"]})
    bench.run(15)

    assert bench.state("p")["restartCount"] == 2
    assert bench.story("p")[-1] == "Running Error"


def test_a_phase_that_was_not_told_before_the_end_is_not_told_after_it(bench: Bench) -> None:
    bench.runtime.answers[("bad",)] = (1, b"")
    hook = {"postStart": {"exec": {"command": ["bad"]}}}
    bench.pod("p", {"command": HOLD, "lifecycle": hook}, restartPolicy="Never")
    bench.run(2)

    assert bench.story("p")[2:] == ["Pending Completed", "Succeeded Completed"]


def test_a_pod_on_the_network_of_the_node_has_its_address_from_the_first_status(
    bench: Bench,
) -> None:
    bench.pod("p", hostNetwork=True)
    first = next(each for each in bench.statuses["p"] if "hostIP" in each)

    assert first["podIP"] == "127.0.0.1"


def test_a_deleted_pod_ends_gracefully_and_goes(bench: Bench) -> None:
    bench.pod("p")
    bench.delete("p")
    bench.run(1)

    assert bench.world.names("pods") == []
    assert bench.runtime.containers() == []
    assert ("main", 30.0) in bench.runtime.stopped
    assert bench.events("p")[-1] == ("Killing", "Stopping container main")


def test_a_pod_removed_by_force_is_killed_with_the_least_grace(bench: Bench) -> None:
    bench.pod("p")
    bench.delete("p", grace=0)
    bench.run(1)

    assert bench.runtime.stopped == [("main", 2.0)]
    assert bench.runtime.containers() == []


def test_a_pod_that_never_started_a_container_fails_as_unknown(bench: Bench) -> None:
    bench.pod("p", {"image": "missing:1"}, metadata={"finalizers": ["x/y"]})
    bench.delete("p")
    bench.run(1)
    ended = bench.state("p")["state"]["terminated"]

    assert bench.status("p")["phase"] == "Failed"
    assert bench.condition("p", "Ready") == ("False", "ContainersNotReady")
    assert (ended["exitCode"], ended["reason"]) == (137, "ContainerStatusUnknown")


def test_a_deadline_fails_the_pod(bench: Bench) -> None:
    bench.pod("p", activeDeadlineSeconds=3)
    bench.run(4)

    assert bench.status("p")["reason"] == "DeadlineExceeded"
    assert bench.reasons("p")[-2:] == ["DeadlineExceeded", "Killing"]


def test_a_kubelet_that_starts_again_goes_on_with_its_containers(bench: Bench) -> None:
    bench.pod("p")
    before = bench.status("p")
    bench.restart()

    assert bench.status("p") == before
    assert len(bench.runtime.containers()) == 1


def test_what_ended_while_the_kubelet_was_away_is_told(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "5"]}, restartPolicy="Never")
    bench.kubelet.stop()
    bench.run(10)
    bench.kubelet = bench.make()
    bench.kubelet.start()
    bench.run(1)

    assert bench.status("p")["phase"] == "Succeeded"
    assert bench.status("p")["podIP"] == "10.42.0.1"


def test_containers_of_pods_that_went_meanwhile_are_removed(bench: Bench) -> None:
    bench.pod("p")
    bench.kubelet.stop()
    bench.delete("p", grace=0)
    bench.kubelet = bench.make()
    bench.kubelet.start()
    bench.run(1)

    assert bench.runtime.containers() == []


def test_containers_that_were_lost_with_the_node_start_again(bench: Bench) -> None:
    bench.pod("p")
    bench.kubelet.stop()
    bench.runtime.records.clear()
    bench.sandboxes = type(bench.sandboxes)("10.42.0.0/24")
    bench.kubelet = bench.make()
    bench.kubelet.start()
    bench.run(1)
    told = bench.state("p")

    assert "running" in told["state"]
    assert told["restartCount"] == 1


def test_a_pod_that_is_refused_says_only_why(bench: Bench) -> None:
    bench.devices.refused["p"] = Rejected("UnexpectedAdmissionError", "Allocate failed")
    bench.run(2)
    bench.pod("p")
    status = bench.status("p")

    assert status["message"] == "Pod was rejected: Allocate failed"
    assert status["phase"], status["reason"] == ("Failed", "UnexpectedAdmissionError")
    assert "containerStatuses" not in status
    assert status.get("conditions") is None
    assert bench.events("p") == [("UnexpectedAdmissionError", "Allocate failed")]


def test_a_pod_that_is_refused_right_after_the_start_is_told_so_a_little_later(
    bench: Bench,
) -> None:
    bench.devices.refused["p"] = Rejected("UnexpectedAdmissionError", "no")
    bench.pod("p")
    assert bench.status("p")["phase"] == "Pending"
    assert "conditions" not in bench.status("p")

    bench.run(2)

    assert bench.status("p")["phase"] == "Failed"


def test_a_refused_pod_is_let_go_when_it_is_deleted(bench: Bench) -> None:
    bench.devices.refused["p"] = Rejected("UnexpectedAdmissionError", "no")
    bench.pod("p")
    bench.delete("p")
    bench.run(1)

    assert bench.world.names("pods") == []


def test_volumes_that_cannot_be_made_are_told_and_tried_again(bench: Bench) -> None:
    bench.volumes.failure = 'MountVolume.SetUp failed for volume "v" : configmap "c" not found'
    bench.pod("p")
    assert bench.events("p") == [("FailedMount", bench.volumes.failure)]

    bench.volumes.failure = ""
    bench.run(11)

    assert bench.status("p")["phase"] == "Running"


def test_devices_that_change_change_the_status(bench: Bench) -> None:
    uid = bench.pod("p")
    bench.devices.held["main"] = [{"name": "a/b", "resources": [{"resourceID": "1"}]}]
    bench.devices.change(uid)
    bench.run(0.1)

    assert bench.state("p")["allocatedResourcesStatus"] == bench.devices.held["main"]


def test_a_readiness_gate_keeps_a_pod_from_being_ready(bench: Bench) -> None:
    bench.pod("p", readinessGates=[{"conditionType": "a/gate"}])
    assert bench.condition("p", "Ready") == ("False", "ReadinessGatesNotReady")

    bench.world.status("p", {"conditions": [{"type": "a/gate", "status": "True"}]})
    bench.run(0.1)

    assert bench.condition("p", "Ready") == ("True", "")
    assert bench.status("p")["conditions"][0]["type"] == "a/gate"


def test_another_image_restarts_the_container(bench: Bench) -> None:
    bench.pod("p", {"command": HOLD})
    patch = {"spec": {"containers": [{"name": "main", "image": "pulled:1"}]}}
    bench.world.client.patch("pods", Key("default", "p"), patch, strategic=True)
    bench.run(1)

    assert bench.state("p")["image"] == "pulled:1"
    assert bench.state("p")["restartCount"] == 1
    assert (
        "Killing",
        "Container main definition changed, will be restarted",
    ) in bench.events("p")


def test_a_container_comes_back_soon_after_its_back_off_whatever_is_drawn(bench: Bench) -> None:
    bench.drawn = 1.0
    bench.pod("p", {"command": ["exit", "1"]})

    bench.run(11)

    assert bench.state("p")["restartCount"] == 2


def lose_node(bench: Bench) -> ContainerRecord:
    """Have the node go with its only container, and come again; return what ran."""
    bench.kubelet.stop()
    (run,) = bench.runtime.records.values()
    gone = {"state": ContainerState.EXITED, "exit_code": 255, "reason": "Unknown", "pid": 0}
    now = bench.loop.clock.now()
    bench.runtime.records[run.id] = replace(run, **gone, finished_at=now)  # type: ignore[arg-type]
    bench.sandboxes = Sandboxes(bench.settings.pod_cidr)
    bench.restart()
    return run


@pytest.mark.parametrize("policy", ["Always", "Never"])
def test_a_pod_goes_on_after_its_node_was_away(bench: Bench, policy: str) -> None:
    bench.pod("p", {"command": HOLD}, restartPolicy=policy)
    run = lose_node(bench)
    bench.run(2)

    status = bench.state("p")
    assert not [each for each in bench.story("p") if each.startswith("Failed")]
    assert bench.story("p")[-1] == "Running running"
    assert status["restartCount"] == 1
    assert status["lastState"]["terminated"]["reason"] == "Unknown"
    assert status["lastState"]["terminated"]["containerID"] == f"containerd://{run.id}"


def test_that_a_node_was_away_is_no_failure_of_its_containers(bench: Bench) -> None:
    bench.pod("p", {"command": HOLD})
    lose_node(bench)
    bench.run(2)
    (run,) = [each for each in bench.runtime.records.values() if each.attempt == 1]

    bench.runtime.signal(run.id, 9)
    bench.run(2)

    assert bench.state("p")["restartCount"] == 2
    assert "running" in bench.state("p")["state"]
