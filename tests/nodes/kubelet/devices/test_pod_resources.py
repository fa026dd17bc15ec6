"""The valve of the pod resources service, and which containers it tells of."""

from __future__ import annotations

from windtunnel.kernel import VirtualClock
from windtunnel.nodes.kubelet.devices.pod_resources import Valve, started_containers


def test_a_burst_passes_and_then_so_many_a_second() -> None:
    clock = VirtualClock()
    valve = Valve(clock, rate=100, burst=10)

    assert sum(valve.passes() for _ in range(30)) == 10
    clock.move_to(0.05)
    assert sum(valve.passes() for _ in range(30)) == 5


def test_sidecars_are_told_of_and_init_containers_are_not() -> None:
    pod = {
        "spec": {
            "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}],
            "containers": [{"name": "b"}, {"name": "a"}],
        }
    }

    assert started_containers(pod) == ["s", "b", "a"]
