"""Pods on their way in: who is taken, who waits, who is refused, and what is heard meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from tests.nodes.kubelet.bench import NODE, Bench

from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.client import Change, Deliver
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.devices.admission import Rejected
from windtunnel.nodes.kubelet.devices.inventory import Figures


def test_a_pod_is_active_until_it_has_ended(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "1"]}, restartPolicy="Never")
    assert [each["metadata"]["name"] for each in bench.kubelet.active() or []] == ["p"]

    bench.run(2)

    assert bench.kubelet.active() == []
    assert len(bench.kubelet.pods()) == 1


def test_a_pod_that_was_removed_by_force_is_not_active_while_it_still_ends(bench: Bench) -> None:
    bench.pod("p", {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}})
    bench.delete("p", grace=0)

    assert [each.state.value for each in bench.runtime.containers()] == ["running"]
    assert bench.kubelet.active() == []


def test_the_next_pod_of_the_same_name_is_another_one(bench: Bench) -> None:
    first = bench.pod("p")
    bench.delete("p", grace=0)
    second = bench.pod("p")
    bench.run(1)

    assert first != second
    assert [each.pod_uid for each in bench.runtime.containers()] == [second]


def test_a_pod_may_be_refused_by_the_node_itself(bench: Bench) -> None:
    bench.run(2)
    bench.pod("p", {"resources": {"requests": {"cpu": "50"}}})

    assert bench.status("p")["reason"] == "OutOfcpu"
    assert bench.get("p")["spec"]["nodeName"] == NODE


def test_what_has_run_of_a_pod_that_is_refused_after_a_restart_is_stopped(bench: Bench) -> None:
    bench.pod("p")
    seen = len(bench.statuses["p"])
    bench.devices.refused["p"] = Rejected("NoMore", "there is none")
    bench.restart()
    bench.run(2)
    told = bench.statuses["p"][seen:]

    assert [each["phase"] for each in told] == ["Running", "Running", "Failed"]
    assert "conditions" not in told[0]
    assert bench.condition("p", "Ready") == ("False", "PodFailed")
    assert bench.status("p")["reason"] == "NoMore"
    assert bench.status("p")["message"] == "Pod was rejected: there is none"
    assert bench.state("p")["state"].keys() == {"terminated"}
    assert bench.kubelet.active() == []


@pytest.fixture
def late(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A node whose watches tell of a change later than the answers to its own writes do."""
    made = bench.world.virtual.client

    def client(name: str) -> LocalClient:
        found = made(name)
        watch = found.watch

        def watch_late(
            resource: str, deliver: Deliver, field_selector: str = ""
        ) -> Callable[[], None]:
            def later(change: Change) -> None:
                bench.loop.call_after(0.05, lambda: deliver(change))

            return watch(resource, later, field_selector=field_selector)

        monkeypatch.setattr(found, "watch", watch_late)
        return found

    monkeypatch.setattr(bench.world.virtual, "client", client)
    bench.restart()
    bench.run(1)
    return bench


def test_a_deletion_that_comes_just_before_a_status_is_written_is_heard(
    late: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = late.pod("p")
    late.run(1)

    def deleted_meanwhile(_uid: str, _container: str) -> list[Tree]:
        late.delete("p")
        monkeypatch.undo()
        return [{"name": GPU, "resources": [{"resourceID": "a", "health": "Healthy"}]}]

    monkeypatch.setattr(late.devices, "health", deleted_meanwhile)
    late.devices.change(uid)
    late.run(1)

    assert late.runtime.stopped == [("main", 30.0)]
    assert late.world.names("pods") == []


def test_a_deletion_that_comes_just_before_a_pod_is_refused_is_heard(
    late: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deleted_meanwhile(_pod: Tree, then: Callable[[Rejected], None], **_: object) -> None:
        late.delete("p")
        then(Rejected("UnexpectedAdmissionError", "no devices"))

    monkeypatch.setattr(late.devices, "admit", deleted_meanwhile)
    late.pod("p")
    late.run(1)

    assert late.world.names("pods") == []


GPU = "nvidia.com/gpu"
WANTS: Tree = {"resources": {"limits": {GPU: "1"}}}


@pytest.fixture
def booting(bench: Bench) -> Bench:
    """A node just switched on, whose one GPU nobody offers yet."""
    bench.settings = msgspec.structs.replace(bench.settings, boot_patience_seconds=30.0)
    bench.devices.known = Figures({GPU: 0}, {GPU: 0})
    bench.restart()
    return bench


def test_a_pod_waits_for_its_devices_when_the_node_is_switched_on(
    booting: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(booting.devices, "in_use", lambda: {GPU: 1})
    booting.pod("p", WANTS)
    booting.pod("q")
    booting.run(5)
    assert [each.pod_name for each in booting.runtime.containers()] == ["q"]

    booting.devices.known = Figures({GPU: 1}, {GPU: 1})
    booting.devices.change()
    booting.run(1)

    assert [each.pod_name for each in booting.runtime.containers()] == ["q", "p"]


def test_devices_that_do_not_come_are_not_waited_for_forever(booting: Bench) -> None:
    booting.devices.refused["p"] = Rejected("UnexpectedAdmissionError", "no devices")
    booting.pod("p", WANTS)
    booting.run(29)
    assert booting.status("p")["phase"] == "Pending"

    booting.run(2)

    assert booting.status("p")["reason"] == "UnexpectedAdmissionError"


def test_a_pod_that_waits_for_devices_can_be_deleted(booting: Bench) -> None:
    booting.devices.refused["p"] = Rejected("UnexpectedAdmissionError", "no devices")
    booting.pod("p", WANTS)
    booting.delete("p")
    booting.run(1)

    assert booting.kubelet.pods() == []


def test_a_pod_that_was_being_deleted_when_the_node_died_goes(bench: Bench) -> None:
    bench.pod("p", WANTS)
    bench.run(1)
    bench.kubelet.stop()
    bench.runtime.close()
    bench.world.client.delete("pods", Key("default", "p"))
    bench.devices.refused["p"] = Rejected("UnexpectedAdmissionError", "no devices")

    bench.restart()
    bench.run(2)

    assert bench.world.client.get("pods", Key("default", "p")) is None
