"""Which agents there are, and how each is made: plain constructor calls, in this one file.

A component is added by a function here and a line in one of the two tables. What a function needs
is imported inside it, so that an agent pays for nothing but itself: a part lives on the loop until
the process is told to end, a program runs once and returns its exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from windtunnel.assembly.agent import PARENT, Berth
from windtunnel.kernel import Actor


def _status_updater(berth: Berth) -> Actor:
    from windtunnel.gpu.status_updater import COMPONENT, StatusUpdater, read_settings

    settings = read_settings(berth.environment)
    return StatusUpdater(berth.client(COMPONENT), berth.loop, settings)


def _kwok_device_plugin(berth: Berth) -> Actor:
    from windtunnel.gpu.kwok_device_plugin import COMPONENT, KwokDevicePlugin, read_settings

    settings = read_settings(berth.environment)
    return KwokDevicePlugin(berth.client(COMPONENT), berth.loop, settings)


def _kwok_dra_plugin(berth: Berth) -> Actor:
    from windtunnel.gpu.kwok_dra_plugin import COMPONENT, KwokDraPlugin, read_settings

    settings = read_settings(berth.environment)
    return KwokDraPlugin(berth.client(COMPONENT), berth.loop, settings)


def _kwok_compute_domain(berth: Berth) -> Actor:
    from windtunnel.gpu.kwok_compute_domain import COMPONENT, KwokComputeDomain, check

    check(berth.environment)
    return KwokComputeDomain(berth.client(COMPONENT), berth.loop)


def _compute_domains(berth: Berth) -> Actor:
    from windtunnel.gpu.compute_domains import COMPONENT, ComputeDomains

    return ComputeDomains(berth.client(COMPONENT), berth.loop)


def _mig_faker(berth: Berth) -> Actor:
    from windtunnel.gpu.mig_faker import COMPONENT, MigFaker, read_settings

    settings = read_settings(berth.environment)
    return MigFaker(berth.client(COMPONENT), berth.loop, settings)


def _topology_server(berth: Berth) -> Actor:
    from windtunnel.gpu.topology_server import read_settings, topology_server

    client = berth.client("topology-server", watching=False)
    return topology_server(client, read_settings(berth.environment))


def _device_plugin(berth: Berth) -> Actor:
    from windtunnel.gpu.device_plugin import DevicePlugin, read_settings

    settings = read_settings(berth.environment)
    return DevicePlugin(berth.client("device-plugin"), berth.loop, settings)


def _status_exporter(berth: Berth) -> Actor:
    from windtunnel.gpu.exporter import Exporter, read_settings

    settings = read_settings(berth.environment, played=False)
    return Exporter(berth.client("status-exporter"), berth.loop, settings)


def _status_exporter_kwok(berth: Berth) -> Actor:
    from windtunnel.gpu.exporter import Exporter, read_settings

    settings = read_settings(berth.environment, played=True)
    return Exporter(berth.client("status-exporter-kwok"), berth.loop, settings)


def _nvidia_smi(arguments: Sequence[str], _: Mapping[str, str]) -> int:
    from windtunnel.gpu.smi import run

    run(arguments)


def _kubelet(berth: Berth) -> Actor:
    import signal

    from windtunnel.assembly.node import WholeNode
    from windtunnel.assembly.node_arguments import read_arguments
    from windtunnel.client import incluster
    from windtunnel.home import end_with_parent

    parent = berth.environment.get(PARENT)
    if parent:
        # A node is a machine of the cluster; it goes off with it, however that ends.
        end_with_parent(int(parent), signal.SIGKILL)
    order = read_arguments(berth.arguments, berth.environment)
    return WholeNode(incluster.connect(berth.environment), berth.loop, order)


AGENTS: Final[dict[str, Callable[[Berth], Actor]]] = {
    "kubelet": _kubelet,
    "status-updater": _status_updater,
    "kwok-gpu-device-plugin": _kwok_device_plugin,
    "kwok-dra-plugin": _kwok_dra_plugin,
    "kwok-compute-domain-dra-plugin": _kwok_compute_domain,
    "compute-domain-controller": _compute_domains,
    "topology-server": _topology_server,
    "mig-faker": _mig_faker,
    "device-plugin": _device_plugin,
    "status-exporter": _status_exporter,
    "status-exporter-kwok": _status_exporter_kwok,
}

WITH_ARGUMENTS: Final = frozenset({"kubelet"})
"""Parts that have a command line of their own; the settings of the others are variables only."""

PROGRAMS: Final[dict[str, Callable[[Sequence[str], Mapping[str, str]], int]]] = {
    "nvidia-smi": _nvidia_smi,
}
"""(what follows the name on the command line, the environment) -> exit code"""
