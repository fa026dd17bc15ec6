"""What the workers of all pods stand on: the runtime, devices, volumes, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from windtunnel.client import Client
from windtunnel.kernel import Clock, Loop
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.delays import Delays
from windtunnel.nodes.kubelet.environment import Lookup
from windtunnel.nodes.kubelet.events import PodEvents
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.pod_files import PodFiles
from windtunnel.nodes.kubelet.runtime.protocol import Runtime
from windtunnel.nodes.kubelet.sandboxes import Sandboxes
from windtunnel.nodes.kubelet.settings import Settings
from windtunnel.nodes.kubelet.volumes.volumes import PodVolumes

if TYPE_CHECKING:  # it imports gRPC, which only who makes the devices has to
    from windtunnel.nodes.kubelet.devices.devices import Devices


@dataclass(slots=True, kw_only=True)
class Ground:
    """One node, as the workers of its pods see it."""

    client: Client
    loop: Loop
    outside: Outside
    runtime: Runtime
    devices: Devices
    volumes: PodVolumes
    sandboxes: Sandboxes
    settings: Settings
    events: PodEvents
    crashes: Delays
    pulls: Delays
    draw: Callable[[], float]
    """A number from 0 to 1: the jitter of delays."""
    lookup: Callable[[Tree, str], Lookup]
    """From a pod and its address to where its variables come from."""
    files: PodFiles
    stopped: set[str] = field(default_factory=set)
    """Containers that were asked to end and have: whoever asked knows it at once."""

    @property
    def clock(self) -> Clock:
        """Return what tells the time."""
        return self.loop.clock

    def own_address(self, uid: str) -> str:
        """Return a pod's own address; empty on the host's network."""
        sandbox = self.sandboxes.get(uid)
        return sandbox.address if sandbox is not None else ""

    def address_of(self, uid: str) -> str:
        """Return where a pod is reached."""
        return self.own_address(uid) or self.settings.address

    def log_path(self, pod: Tree, container: str, attempt: int) -> Path:
        """Return where a container's output is written."""
        metadata = pod["metadata"]
        folder = f"{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"
        return self.settings.log_root / folder / container / f"{attempt}.log"
