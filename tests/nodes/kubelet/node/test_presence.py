"""The node's presence in the API."""

from __future__ import annotations

from tests.nodes.kubelet.bench import NODE, Bench

from windtunnel.machinery.tree import Key
from windtunnel.nodes.kubelet.devices.inventory import Figures


def lease(bench: Bench) -> str:
    found = bench.world.get("leases.coordination.k8s.io", NODE, "kube-node-lease")
    return str(found["spec"]["renewTime"])


def test_the_node_is_there_and_ready(bench: Bench) -> None:
    status = bench.world.get("nodes", NODE, "")["status"]

    assert [each["type"] for each in status["conditions"]] == [
        "MemoryPressure", "DiskPressure", "PIDPressure", "Ready",
    ]  # fmt: skip
    assert status["conditions"][-1]["reason"] == "KubeletReady"
    assert "ExtendWebSocketsToKubelet" in status["declaredFeatures"]


def test_its_lease_is_renewed(bench: Bench) -> None:
    first = lease(bench)
    bench.run(11)

    assert lease(bench) > first


def test_nothing_is_written_while_nothing_changes(bench: Bench) -> None:
    bench.run(15)
    before = bench.world.get("nodes", NODE, "")["metadata"]["resourceVersion"]
    bench.run(100)

    assert bench.world.get("nodes", NODE, "")["metadata"]["resourceVersion"] == before


def test_devices_that_come_are_told_before_the_next_beat(bench: Bench) -> None:
    bench.devices.known = Figures({"a/b": 2}, {"a/b": 2})
    bench.devices.change()
    bench.run(0.6)

    assert bench.world.get("nodes", NODE, "")["status"]["allocatable"]["a/b"] == "2"


def test_a_node_that_was_deleted_is_made_again(bench: Bench) -> None:
    bench.world.client.delete("nodes", Key("", NODE))
    bench.run(2)

    assert bench.world.get("nodes", NODE, "")["status"]["conditions"]


def test_a_restart_tells_of_everything_but_of_becoming_ready(bench: Bench) -> None:
    first = bench.reasons(NODE)
    bench.restart()
    bench.run(1)
    events = {
        event["reason"]: event["count"]
        for event in bench.world.client.list("events")
        if event["involvedObject"]["name"] == NODE and event["source"]["component"] == "kubelet"
    }

    assert "NodeReady" in first
    assert events["NodeReady"] == 1
    assert bench.reasons(NODE).count("Starting") == 2
