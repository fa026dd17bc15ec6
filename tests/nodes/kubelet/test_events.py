"""Events about pods and their containers."""

from __future__ import annotations

from tests.nodes.kubelet.bench import NODE, Bench


def test_an_event_names_its_container_only_in_the_field_path(bench: Bench) -> None:
    uid = bench.pod("p", initContainers=[{"name": "setup", "command": ["exit", "0"]}])
    events = [
        event
        for event in bench.world.client.list("events")
        if event["involvedObject"]["name"] == "p" and event["reason"] == "Started"
    ]

    assert {event["message"] for event in events} == {"Container started"}
    assert {event["involvedObject"]["fieldPath"] for event in events} == {
        "spec.initContainers{setup}",
        "spec.containers{main}",
    }
    assert {event["involvedObject"]["uid"] for event in events} == {uid}
    assert events[0]["source"] == {"component": "kubelet", "host": NODE}
    assert events[0]["reportingInstance"] == NODE
