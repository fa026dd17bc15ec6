"""Which parts a cluster has, and how they are made: plain constructor calls, in this one file.

Every part gets a client and a loop and knows nothing else of where it lives: the same calls serve a
cluster behind TLS and one in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from windtunnel import controllers
from windtunnel.assembly.scheduler_file import read_scheduler_file
from windtunnel.assembly.settings import Settings, read_flags
from windtunnel.client import Client
from windtunnel.gpu.kwok_device_plugin import PoolCapacity
from windtunnel.kernel import Actor, Chance, Loop
from windtunnel.nodes import played
from windtunnel.scheduler import Configuration, Scheduler

Clients = Callable[[str], Client]
"""From the name of a component, which is its user and its field manager, to its client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSettings:
    """What a user may decide about parts, each in the part's own words."""

    without: frozenset[str] = frozenset()
    """Parts whose place others take."""
    controllers: controllers.Settings = field(default_factory=controllers.Settings)
    nodes: played.Settings = field(default_factory=played.Settings)
    scheduler: Configuration | None = None
    host: str | None = None
    """The machine's name, as the scheduler's events have it; None asks the machine."""


def part_settings(settings: Settings, root_ca: str = "") -> PartSettings:
    """Read the parts' own settings out of those of a cluster.

    Raises:
        UsageError: a part knows no such flag, or not such a value; a file cannot be understood.
    """
    flags = read_flags(settings, "controllers", controllers.Settings, frozenset({"root-ca"}))
    nodes = read_flags(settings, "nodes", played.Settings)
    # Whoever is looked at more often renews more often; else all nodes would seem to be lost.
    patience = max(int(flags.node_monitor_grace_period), 1)
    lease_seconds = min(nodes.lease_duration_seconds, patience)
    file = settings.scheduler_file
    return PartSettings(
        without=settings.without,
        controllers=msgspec.structs.replace(flags, root_ca=root_ca),
        nodes=msgspec.structs.replace(nodes, lease_duration_seconds=lease_seconds),
        scheduler=None if file is None else read_scheduler_file(file),
    )


class Parts:
    """Our own parts, but for those that are left out; a part that is left out is None."""

    def __init__(
        self,
        clients: Clients,
        loop: Loop,
        settings: PartSettings,
        chance: Chance | None = None,
    ) -> None:
        """Make the parts; none of them does anything before ``start``.

        Args:
            clients: How each talks to the API server.
            loop: Whose steps they are.
            settings: Which there are, and how they are set.
            chance: What is drawn by lot comes from it; None draws as seed 0 does.
        """
        without = settings.without
        self.controllers: controllers.Controllers | None = None
        self.scheduler: Scheduler | None = None
        self.nodes: played.PlayedNodes | None = None
        self.capacity: PoolCapacity | None = None
        if "controllers" not in without:
            self.controllers = controllers.Controllers(
                clients("kube-controller-manager"), loop, settings.controllers
            )
        if "scheduler" not in without:
            self.scheduler = Scheduler(
                clients("kube-scheduler"), loop, settings.scheduler, host=settings.host
            )
        if "nodes" not in without:
            self.nodes = played.PlayedNodes(clients("kwok"), loop, settings.nodes, chance=chance)
            self.capacity = PoolCapacity(clients("fake-gpu-operator"), loop)

    def start(self) -> None:
        """Start all, in the order in which they hear of changes."""
        for part in self._all():
            part.start()

    def stop(self) -> None:
        """Stop all, the last one first."""
        for part in reversed(self._all()):
            part.stop()

    def _all(self) -> list[Actor]:
        made: tuple[Actor | None, ...] = (
            self.controllers,
            self.scheduler,
            self.nodes,
            self.capacity,
        )
        return [part for part in made if part is not None]
