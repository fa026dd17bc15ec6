"""What a pod asks for, and what is said to it: values of the admission of pods to devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from windtunnel.machinery.quantity import to_int
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.runtime.protocol import DeviceNode, Mount
from windtunnel.wire import deviceplugin_pb2 as pb

UNEXPECTED: Final = "UnexpectedAdmissionError"
MISALIGNED: Final = "TopologyAffinityError"


@dataclass(frozen=True, slots=True)
class Admitted:
    """The pod has its devices."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The pod cannot have them; the words are those of its event and status."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What one container wants of devices."""

    container: str
    resources: tuple[tuple[str, int], ...]
    """(resource, how many), by name."""
    lends: bool = False
    """An init container that ends before others start: they may have its devices."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the plugins want a container to have."""

    envs: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Mount, ...] = ()
    devices: tuple[DeviceNode, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    cdi_devices: tuple[str, ...] = ()


def wishes_of(pod: Tree) -> list[Wish]:
    """Return what each container wants, init containers first. Only limits count."""
    found = []
    for init, field in ((True, "initContainers"), (False, "containers")):
        for container in dig(pod, "spec", field) or ():
            limits = dig(container, "resources", "limits") or {}
            wanted = tuple((name, to_int(limits[name])) for name in sorted(limits) if "/" in name)
            lends = init and container.get("restartPolicy") != "Always"
            found.append(Wish(container["name"], wanted, lends))
    return found


def total_of(wishes: Iterable[Wish]) -> dict[str, int]:
    """Return what the pod as a whole needs: the sum of what runs together, or an init's peak."""
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    apps: dict[str, int] = {}
    wishes = list(wishes)
    # Init containers come first; the last that lends, or the first app, ends them.
    inits = max((place for place, wish in enumerate(wishes) if wish.lends), default=-1) + 1
    for place, wish in enumerate(wishes):
        for resource, count in wish.resources:
            if wish.lends:
                together = sidecars.get(resource, 0) + count
                peak[resource] = max(peak.get(resource, 0), together)
            elif place < inits:
                sidecars[resource] = sidecars.get(resource, 0) + count
            else:
                apps[resource] = apps.get(resource, 0) + count
    names = sorted({*sidecars, *peak, *apps})
    return {
        name: max(peak.get(name, 0), sidecars.get(name, 0) + apps.get(name, 0)) for name in names
    }


def run_options(answers: Iterable[bytes]) -> RunOptions:
    """Lay plugins' answers over each other; where two say different things, the first one holds."""
    envs: dict[str, str] = {}
    mounts: dict[str, Mount] = {}
    nodes: dict[str, DeviceNode] = {}
    annotations: dict[str, str] = {}
    cdi: dict[str, None] = {}
    for answer in answers:
        response = pb.ContainerAllocateResponse.FromString(answer)
        for name, value in sorted(response.envs.items()):
            envs.setdefault(name, value)
        for name, value in sorted(response.annotations.items()):
            annotations.setdefault(name, value)
        for mount in response.mounts:
            mounts.setdefault(
                mount.container_path,
                Mount(
                    host_path=mount.host_path,
                    container_path=mount.container_path,
                    read_only=mount.read_only,
                ),
            )
        for node in response.devices:
            nodes.setdefault(
                node.container_path,
                DeviceNode(
                    host_path=node.host_path,
                    container_path=node.container_path,
                    permissions=node.permissions,
                ),
            )
        cdi |= dict.fromkeys(one.name for one in response.cdi_devices)
    return RunOptions(
        tuple(envs.items()),
        tuple(mounts.values()),
        tuple(nodes.values()),
        tuple(annotations.items()),
        tuple(cdi),
    )
