"""Reading a pod."""

from __future__ import annotations

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_spec import (
    asked,
    field_path,
    grace_seconds,
    same_image,
    with_origin,
)

GRACES = {
    "as specified": ({"spec": {"terminationGracePeriodSeconds": 5}}, 5),
    "as usual": ({"spec": {}}, 30),
    "never less than one": ({"spec": {"terminationGracePeriodSeconds": 0}}, 1),
    "as deleted": (
        {
            "metadata": {"deletionTimestamp": "x", "deletionGracePeriodSeconds": 7},
            "spec": {"terminationGracePeriodSeconds": 5},
        },
        7,
    ),
}


@pytest.mark.parametrize(("pod", "want"), GRACES.values(), ids=GRACES.keys())
def test_the_grace_of_a_pod(pod: Tree, want: int) -> None:
    assert grace_seconds({"metadata": {}, **pod}) == want


def test_a_pod_is_kept_with_where_it_comes_from_and_since_when() -> None:
    first = with_origin({"metadata": {"annotations": {"a": "b"}}}, None, 1769846400.5)
    again = with_origin({"metadata": {}}, first, 1769846500.0)

    origin = {
        "kubernetes.io/config.seen": "2026-01-31T08:00:00.500000000Z",
        "kubernetes.io/config.source": "api",
    }
    assert first["metadata"]["annotations"] == {"a": "b", **origin}
    assert again["metadata"]["annotations"] == origin


def test_a_container_is_named_by_its_place() -> None:
    pod: Tree = {
        "spec": {
            "containers": [{"name": "a"}],
            "initContainers": [{"name": "b"}],
            "ephemeralContainers": [{"name": "c"}],
        }
    }
    assert field_path(pod, "c") == "spec.ephemeralContainers{c}"

    assert field_path(pod, "a") == "spec.containers{a}"
    assert field_path(pod, "b") == "spec.initContainers{b}"


def test_images_are_the_same_however_short_they_are_written() -> None:
    assert same_image("busybox", "docker.io/library/busybox:latest")
    assert not same_image("busybox:1", "busybox:2")


ASKED: Tree = {
    "metadata": {"name": "p", "resourceVersion": "1", "labels": {"a": "b"}},
    "spec": {"containers": []},
}
WRITES = {
    "a status": ({"status": {"phase": "Running"}}, True),
    "a revision": ({"metadata": {**ASKED["metadata"], "resourceVersion": "2"}}, True),
    "a deletion": ({"metadata": {**ASKED["metadata"], "deletionTimestamp": "x"}}, False),
    "a label": ({"metadata": {**ASKED["metadata"], "labels": {"a": "c"}}}, False),
    "a spec": ({"spec": {"containers": [{"name": "c"}]}}, False),
}


@pytest.mark.parametrize(("written", "same"), WRITES.values(), ids=WRITES.keys())
def test_what_a_write_asks_of_a_pod(written: Tree, same: bool) -> None:
    assert (asked({**ASKED, **written}) == asked(ASKED)) is same
