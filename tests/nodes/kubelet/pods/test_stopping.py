"""In which order containers of a pod are asked to end."""

from __future__ import annotations

from tests.nodes.kubelet.bench import HOLD, Bench

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pods.stopping import Turns

SIDES = [
    {"name": "first", "restartPolicy": "Always", "command": HOLD},
    {"name": "second", "restartPolicy": "Always", "command": HOLD},
]


def test_sidecars_end_after_the_app_the_last_one_first(bench: Bench) -> None:
    bench.pod("p", initContainers=SIDES)
    bench.delete("p")
    bench.run(1)

    assert [name for name, _ in bench.runtime.stopped] == ["main", "second", "first"]


def test_all_of_them_are_told_at_the_beginning(bench: Bench) -> None:
    bench.pod("p", initContainers=SIDES)
    bench.delete("p")
    bench.run(1)

    assert sorted(message for reason, message in bench.events("p") if reason == "Killing") == [
        "Stopping container first",
        "Stopping container main",
        "Stopping container second",
    ]


def test_nobody_waits_for_what_does_not_run() -> None:
    pod: Tree = {"spec": {"initContainers": SIDES}}

    assert Turns(pod, ["first"]).wait("first") is None
    assert Turns(pod, ["first", "second"]).wait("second") is None
    assert Turns(pod, ["first", "second"]).wait("first") is not None
