from __future__ import annotations

import pytest

from windtunnel.kinds.workload.replica_rules import (
    selector_stays,
    validate_counters,
    validate_replica_template,
)
from windtunnel.machinery.tree import Tree

KEYS = ("replicas", "readyReplicas", "availableReplicas")
FOUND: dict[str, tuple[Tree, list[str]]] = {
    "sound ones": ({"replicas": 2, "readyReplicas": 2, "availableReplicas": 1}, []),
    "none at all": ({}, []),
    "one below zero": ({"availableReplicas": -1}, ["status.availableReplicas"]),
    "more ready than there are": ({"replicas": 1, "readyReplicas": 2}, ["status.readyReplicas"]),
    "more available than ready": (
        {"replicas": 2, "availableReplicas": 1}, ["status.availableReplicas"]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("status", "want"), FOUND.values(), ids=FOUND)
def test_counters(status: Tree, want: list[str]) -> None:
    found = validate_counters(status, KEYS, ("readyReplicas",))

    assert [each.field for each in found] == want


def test_a_selector_stays() -> None:
    old, new = ({"spec": {"selector": {"matchLabels": {"app": app}}}} for app in "ab")

    assert selector_stays(old, old) == []
    assert [each.field for each in selector_stays(new, old)] == ["spec.selector"]


def test_pods_of_replicas_always_restart() -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "x"}], "restartPolicy": "Never"}}

    assert "spec.template.spec.restartPolicy" in [
        each.field for each in validate_replica_template(template)
    ]
