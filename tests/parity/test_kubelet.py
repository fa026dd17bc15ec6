"""How scenarios are played: what they wait for, what plugins do, what is written down."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from windtunnel.client import Change
from windtunnel.errors import DataError
from windtunnel.machinery.tree import Key, encode
from windtunnel.parity.kubelet import looks
from windtunnel.parity.kubelet.plugin import preferred
from windtunnel.parity.kubelet.recording import Recording
from windtunnel.parity.kubelet.replay import other_version, read_scenarios
from windtunnel.parity.kubelet.steps import shown_checkpoint
from windtunnel.wire import deviceplugin_pb2 as pb

Tree = dict[str, Any]


def pod(**status: Any) -> Tree:
    return {"metadata": {"name": "a", "uid": "u"}, "spec": {}, "status": status}


def waiting(reason: str, restarts: int = 0) -> Tree:
    state = {"waiting": {"reason": reason}}
    return {"name": "main", "state": state, "restartCount": restarts, "ready": False}


def holding(*healths: str) -> Tree:
    devices = [{"resourceID": str(n), "health": health} for n, health in enumerate(healths)]
    return {"name": "main", "allocatedResourcesStatus": [{"name": "r", "resources": devices}]}


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
WAITS: dict[str, tuple[Tree | None, Tree, bool]] = {
    "gone": (None, {"gone": True}, True),
    "not gone": (pod(), {"gone": True}, False),
    "not there yet": (None, {"ready": False}, False),
    "phase": (pod(phase="Failed"), {"phase": "Failed"}, True),
    "reason": (pod(reason="OutOfcpu"), {"reason": "Evicted"}, False),
    "ready": (pod(**READY), {"ready": True}, True),
    "no longer ready": (pod(**READY), {"ready": False}, False),
    "condition": (pod(**READY), {"condition": {"type": "Ready", "status": "True"}}, True),
    "waiting": (
        pod(containerStatuses=[waiting("ErrImagePull")]),
        {"container": {"name": "main", "waiting": "ErrImagePull"}},
        True,
    ),
    "init waiting for something else": (
        pod(initContainerStatuses=[waiting("PodInitializing")]),
        {"container": {"name": "main", "waiting": "ErrImagePull"}},
        False,
    ),
    "more restarts than wanted": (
        pod(containerStatuses=[waiting("CrashLoopBackOff", 3)]),
        {"container": {"name": "main", "restarts": 2}},
        True,
    ),
    "running": (
        pod(containerStatuses=[{"name": "x", "state": {"running": {}}}]),
        {"container": {"name": "x", "running": True}},
        True,
    ),
    "another container": (
        pod(containerStatuses=[{"name": "x", "state": {"running": {}}}]),
        {"container": {"name": "y", "running": True}},
        False,
    ),
    "all ill": (
        pod(containerStatuses=[holding("Unhealthy", "Healthy")]),
        {"health": "Unhealthy"},
        False,
    ),
    "one ill": (
        pod(containerStatuses=[holding("Unhealthy", "Healthy")]),
        {"health": "Unhealthy", "any": True},
        True,
    ),
    "no devices": (pod(containerStatuses=[{"name": "main"}]), {"health": "Healthy"}, False),
}


@pytest.mark.parametrize(("seen", "until", "wanted"), WAITS.values(), ids=WAITS)
def test_what_a_step_waits_for(seen: Tree | None, until: Tree, wanted: bool) -> None:
    assert looks.pod_is(seen, until) is wanted


def test_events_and_nodes_are_waited_for_by_what_matters() -> None:
    event = {"reason": "Unhealthy", "message": "connect to 8080"}
    node = {"status": {"capacity": {"r": "2"}, "allocatable": {"r": "0"}}}

    assert looks.event_is(event, {"reason": "Unhealthy", "message": "8080"})
    assert not looks.event_is(event, {"reason": "Killing"})
    assert looks.node_is(node, {"capacity": {"r": "2"}})
    assert not looks.node_is(node, {"allocatable": {"r": "2"}})
    assert not looks.node_is(None, {"allocatable": {"r": "2"}})


def test_a_node_is_shown_without_times() -> None:
    shown = looks.shown_node(
        {"metadata": {"labels": {"a": "b"}}, "spec": {}, "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastHeartbeatTime": "t"}
        ]}}
    )  # fmt: skip

    assert shown["labels"] == {"a": "b"}
    assert shown["status"] == {
        "conditions": [{"type": "Ready", "status": "True"}],
        "keys": ["conditions"],
    }


PREFERENCES = {
    "the first": ({"available": ["a", "b", "c"], "must_include": ["c"], "size": 2}, {}, ["c", "a"]),
    "the last": (
        {"available": ["a", "b", "c"], "must_include": [], "size": 2},
        {"choose": "last"},
        ["c", "b"],
    ),
    "what is said": (
        {"available": ["a"], "must_include": [], "size": 1},
        {"ids": ["z"]},
        ["z"],
    ),
}


@pytest.mark.parametrize(("asked", "behaviour", "wanted"), PREFERENCES.values(), ids=PREFERENCES)
def test_what_a_scripted_plugin_prefers(asked: Tree, behaviour: Tree, wanted: list[str]) -> None:
    assert preferred(asked, behaviour) == wanted


def change(kind: Any, tree: Tree) -> Change:
    return Change(kind, Key("default", tree["metadata"]["name"]), 1, encode(tree))


def test_what_was_there_before_is_not_written_down() -> None:
    recording = Recording("real-0")
    recording._pod(change("ADDED", pod(phase="Pending")))
    recording.begin()
    recording.step = 3
    recording._pod(change("DELETED", pod(phase="Failed")))

    assert recording.timeline == [
        {
            "stream": "pod:a",
            "after_step": 3,
            "data": {"type": "DELETED", "metadata": {}, "phase": "Failed"},
        }
    ]
    assert recording.pods == {}
    assert recording.uids == {"u": "a"}


def test_a_checkpoint_is_shown_by_names_and_decoded() -> None:
    answer = pb.ContainerAllocateResponse(
        envs={"A": "1"}, mounts=[pb.Mount(container_path="/m", host_path="/h")]
    )
    entry = {
        "PodUID": "u",
        "ContainerName": "c",
        "AllocResp": base64.b64encode(answer.SerializeToString()).decode(),
    }

    assert shown_checkpoint({"PodDeviceEntries": [entry]}, {"u": "a"}) == {
        "PodDeviceEntries": [
            {
                "pod": "a",
                "ContainerName": "c",
                "AllocResp": {
                    "envs": {"A": "1"},
                    "mounts": [{"container_path": "/m", "host_path": "/h"}],
                },
            }
        ],
        "RegisteredDevices": {},
    }


def test_scenarios_are_chosen_by_id_or_kind(tmp_path: Any) -> None:
    path = tmp_path / "scenarios.jsonl"
    path.write_bytes(
        b"\n".join(
            encode({"id": f"s{n}", "kind": kind, "script": []}) for n, kind in enumerate("ab")
        )
    )

    assert [one["id"] for one in read_scenarios(path, re.compile("b$"))] == ["s1"]
    assert len(read_scenarios(path)) == 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# A page", "Expecting value"),
        (b"\xff\xfe", "can't decode"),
        (b"[]", "a line has no id"),
        (b'{"id": "a", "kind": "b"}', "a line has no script"),
    ],
)
def test_another_file_is_refused(content: bytes, why: str, tmp_path: Any) -> None:
    path = tmp_path / "scenarios.jsonl"
    path.write_bytes(content)

    with pytest.raises(DataError, match=why):
        read_scenarios(path)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Client Version: v1.36.2", ""),
        ("Client Version: v1.32.4-x", "v1.32.4-x"),
        ("", "of no version"),
    ],
)
def test_a_kubectl_of_another_version_is_told(tmp_path: Any, said: str, wanted: str) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)

    assert other_version(str(program)) == wanted
