"""Images of a node: which are present, and what a container of one finds in its root.

An image is only a name here. Busybox and our own are present from the beginning; what is pulled
becomes present. Digests and sizes are invented, always the same for the same name.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerOrder,
    ContainerRecord,
    ImageRecord,
    PullFailed,
)
from windtunnel.nodes.kubelet.runtime.reference import (
    Reference,
    parse_reference,
    quoted,
    refusal,
)
from windtunnel.nodes.kubelet.runtime.registries import Holding, Registries, holding_of, resolve

COMPONENTS: Final = frozenset(
    {
        "compute-domain-controller",
        "device-plugin",
        "kwok-compute-domain-dra-plugin",
        "kwok-dra-plugin",
        "kwok-gpu-device-plugin",
        "mig-faker",
        "status-exporter",
        "status-exporter-kwok",
        "status-updater",
        "topology-server",
    }
)
"""Names of the original operator's images, each of which is one of our agents."""

PROGRAMS: Final = {
    **{f"/bin/{component}": component for component in COMPONENTS},
    "/usr/local/bin/status-exporter": "status-exporter",
    "/usr/local/bin/status-exporter-kwok": "status-exporter-kwok",
    "/bin/windtunnel": "",
}
"""Where our images have their programs, and which agent each starts."""
_MARK: Final = "TOPOLOGY_CM_NAME"
"""A variable that containers of the operator have, and no other."""
_MARKS: Final = {"mig-faker": "NODE_NAME"}
"""Components without it have a name of their own, and at least this one."""

_SIZES: Final = {Holding.BUSYBOX: 2_200_000, Holding.OURS: 48_000_000}
_SMALLEST, _SPREAD = 20_000_000, 400_000_000


@dataclass(frozen=True, slots=True)
class Image:
    """An image that is present, and whose programs it holds."""

    record: ImageRecord
    holding: Holding
    component: str
    """The agent that the image starts; empty where it does not say."""


class ImageStore:
    """Which images the node has. Safe to use from any thread.

    Args:
        registries: What registries hold, by host; the others hold every image.
        sizes: Images that are present from the beginning, with their sizes.
    """

    def __init__(
        self, registries: Registries | None = None, sizes: Mapping[str, int] | None = None
    ) -> None:
        self._registries = registries or {}
        self._lock = threading.Lock()
        self._present: dict[str, Image] = {}
        for text, size in (sizes or {}).items():
            reference = _read(text)
            image = self._keep(reference, holding_of(reference, COMPONENTS), pulled=False)
            record = replace(image.record, size_bytes=size)
            self._present[str(reference)] = replace(image, record=record)

    def find(self, text: str) -> Image | None:
        """Return the image where it is present; raises PullFailed where the text is no name."""
        reference = _read(text)
        with self._lock:
            image = self._present.get(str(reference))
            if image is not None:
                return image
            holding = holding_of(reference, COMPONENTS)
            if holding is Holding.UNKNOWN or reference.registry in self._registries:
                return None
            return self._keep(reference, holding, pulled=False)

    def pull(self, text: str) -> Image:
        """Make the image present; raises PullFailed."""
        reference = _read(text)
        holding = resolve(reference, holding_of(reference, COMPONENTS), self._registries)
        with self._lock:
            return self._keep(reference, holding, pulled=True)

    def records(self) -> list[ImageRecord]:
        """Return what is present, largest first."""
        with self._lock:
            present = [image.record for image in self._present.values()]
        return sorted(present, key=lambda record: (-record.size_bytes, record.image))

    def _keep(self, reference: Reference, holding: Holding, *, pulled: bool) -> Image:
        known = self._present.get(str(reference))
        if known is not None and known.holding is holding:
            return known
        image = Image(_record(reference, holding, pulled=pulled), holding, _component(reference))
        self._present[str(reference)] = image
        return image


def _read(text: str) -> Reference:
    try:
        return parse_reference(text)
    except ValueError as error:
        raise PullFailed(refusal(text, error), "InvalidImageName") from None


def _component(reference: Reference) -> str:
    last = reference.repository.rpartition("/")[2]
    return last if last in COMPONENTS else ""


def _record(reference: Reference, holding: Holding, *, pulled: bool) -> ImageRecord:
    """Invent what a runtime tells of an image.

    One that was pulled is known by its repository's digest; one that was loaded from a file, as
    those that are present from the beginning, by that of its configuration.
    """
    digest = reference.digest or f"sha256:{_hash(str(reference))}"
    by_digest = f"{reference.name}@{digest}"
    names = tuple(name for name in (by_digest, "" if reference.digest else str(reference)) if name)
    size = _SIZES.get(holding)
    if size is None:
        size = _SMALLEST + int(_hash(reference.name)[:8], 16) % _SPREAD
    return ImageRecord(
        image=str(reference),
        id=by_digest if pulled else f"sha256:{_hash(f'config of {reference}')}",
        names=names if pulled else names[1:] or names,
        size_bytes=size,
        stand_in=holding is Holding.UNKNOWN,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def as_used(image: Image, order: ContainerOrder) -> Image:
    """Return the image as a container uses it.

    One under a name of somebody's own (a mirror) is ours where the container runs a program of
    ours, or has the name of a component and what the operator tells its containers.
    """
    if image.holding is not Holding.UNKNOWN:
        return image
    component = image.component
    if order.command:
        program = order.command[0]
        path = program if "/" in program else f"/bin/{program}"
        if path not in PROGRAMS:
            return image
        component = PROGRAMS[path]
    elif not component or _MARKS.get(component, _MARK) not in dict(order.environment):
        return image
    record = replace(image.record, stand_in=False)
    return Image(record, Holding.OURS, component)


@dataclass(frozen=True, slots=True)
class ImageRemark:
    """What an Event says of an image that is only a name; ``warning``: hardly what was wanted."""

    words: str
    warning: bool = False


def remark(record: ContainerRecord) -> ImageRemark | None:
    """Say what runs where the image's own programs are not here; None where they are."""
    if not record.stand_in:
        return None
    words = f"Image {quoted(record.image)} is a name only: nothing is downloaded, and "
    if not record.asleep and not record.missing:
        return ImageRemark(f"{words}the container's command runs with the programs of this machine")
    words += "a sleeping process stands for its programs"
    if record.missing:
        words += f": the command is not here ({record.missing})"
    component = _component(_read(record.image))
    if not component:
        return ImageRemark(words)
    return ImageRemark(
        f"{words}. It would run as a part of the GPU operator with the command /bin/{component}, "
        f"or without any and with the variable {_MARKS.get(component, _MARK)}",
        warning=True,
    )
