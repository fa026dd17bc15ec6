"""How much a node has, and how much of it pods may have."""

from __future__ import annotations

from typing import Any

from tests.nodes.kubelet.bench import MACHINE

from windtunnel.nodes.kubelet.node.figures import figures
from windtunnel.nodes.kubelet.settings import Settings


def allocatable(**settings: Any) -> dict[str, str]:
    return figures(MACHINE, Settings(**settings), {}, {})[1]


def test_a_plain_kubelet_keeps_a_tenth_of_the_disk_and_some_memory() -> None:
    found = allocatable(distribution="plain")

    assert found["ephemeral-storage"] == "243497856212"
    assert found["memory"] == "24581692Ki"


def test_k3s_keeps_a_twentieth_of_the_disk_only() -> None:
    found = allocatable(distribution="k3s", ephemeral_storage="61255492Ki")

    assert found["ephemeral-storage"] == "59589342571"
    assert found["memory"] == "24684092Ki"


def test_devices_come_after_what_every_node_has() -> None:
    capacity, offered = figures(MACHINE, Settings(), {"a/b": 2}, {"a/b": 1})

    assert (capacity["a/b"], offered["a/b"]) == ("2", "1")
