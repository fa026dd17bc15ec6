"""What the workers of all pods stand on: the runtime, devices, volumes, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from windtunnel.client import Client
from windtunnel.kernel import Clock, Loop
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.environment import Lookup
from windtunnel.nodes.kubelet.events import PodEvents
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.pods.delays import Delays
from windtunnel.nodes.kubelet.pods.files import PodFiles
from windtunnel.nodes.kubelet.runtime.protocol import DeviceNode, Mount, Runtime
from windtunnel.nodes.kubelet.sandboxes import Sandboxes
from windtunnel.nodes.kubelet.settings import Settings


class Additions(Protocol):
    """What device plugins add to a container."""

    @property
    def envs(self) -> Sequence[tuple[str, str]]:
        """Variables; the pod's own win."""
        ...

    @property
    def mounts(self) -> Sequence[Mount]:
        """Files and folders."""
        ...

    @property
    def devices(self) -> Sequence[DeviceNode]:
        """Device files."""
        ...

    @property
    def annotations(self) -> Sequence[tuple[str, str]]:
        """Annotations for the runtime."""
        ...


class DeviceSource(Protocol):
    """Who gives devices to containers."""

    def admit(
        self, pod: Tree, then: Callable[[Any], None], *, running: frozenset[str] = frozenset()
    ) -> None:
        """Give the pod its devices; ``then`` takes what is said, with ``reason`` for a no."""
        ...

    def prepare(self, pod: Tree, container: str, then: Callable[[str | None], None]) -> None:
        """Make the devices of a container ready before it is made; None, or what is wrong."""
        ...

    def run_options(self, pod_uid: str, container: str) -> Additions:
        """Return what the plugins add to a container."""
        ...

    def health(self, pod_uid: str, container: str) -> list[Tree]:
        """Return a container's devices as its status shows them."""
        ...

    def in_use(self) -> dict[str, int]:
        """Return how many devices of each resource are held."""
        ...

    def figures(self) -> Any:
        """Return ``capacity`` and ``allocatable`` of every resource that was ever known."""
        ...

    def listen(self, deliver: Callable[[frozenset[str]], None]) -> None:
        """Tell of pods whose devices' health has changed."""
        ...


class VolumeSource(Protocol):
    """Who puts volumes at the places where containers find them."""

    def mount(self, pod: Tree) -> None:
        """Make all volumes of a pod; may block. Raises MountFailed."""
        ...

    def mounts(self, pod: Tree, container: Tree) -> Sequence[Mount]:
        """Return what a container sees of them."""
        ...

    def update(self, pod: Tree) -> None:
        """Bring what the API has changed into the volumes of a pod; may block."""
        ...

    def of_node(self, mounts: Sequence[Mount]) -> Sequence[Mount]:
        """Return mounts of the node's own paths, at where they lie."""
        ...

    def unmount_others(self, pod_uids: Collection[str]) -> None:
        """Remove the volumes of all pods but these; may block."""
        ...

    def unmount(self, pod_uid: str) -> None:
        """Remove all volumes of a pod; may block."""
        ...


@dataclass(slots=True, kw_only=True)
class Ground:
    """One node, as the workers of its pods see it."""

    client: Client
    loop: Loop
    outside: Outside
    runtime: Runtime
    devices: DeviceSource
    volumes: VolumeSource
    sandboxes: Sandboxes
    settings: Settings
    events: PodEvents
    crashes: Delays
    pulls: Delays
    draw: Callable[[], float]
    """A number from 0 to 1: the jitter of delays."""
    lookup: Callable[[Tree, str], Lookup]
    """From a pod and its address to where its variables come from."""
    host_lines: Callable[[], list[str]]
    """What hosts files say on top, of services."""
    files: PodFiles
    stopped: set[str] = field(default_factory=set)
    """Containers that were asked to end and have: whoever asked knows it at once."""

    @property
    def clock(self) -> Clock:
        """Return what tells the time."""
        return self.loop.clock

    def log_path(self, pod: Tree, container: str, attempt: int) -> Path:
        """Return where a container's output is written."""
        metadata = pod["metadata"]
        folder = f"{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"
        return self.settings.log_root / folder / container / f"{attempt}.log"
