"""The checkpoint: what a kubelet that starts again knows of devices, as text.

The form is the real kubelet's, so that its tools read it. The checksum alone is of our own making
(FNV-1a over the data as it stands in the file; a real kubelet hashes Go's view of it): it finds a
file that was cut or changed, and neither kubelet starts from the other's.

Source: kubelet v1.36, ``kubelet_internal_checkpoint``.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from windtunnel.nodes.kubelet.devices.holdings import HeldDevices

NAME: Final = "kubelet_internal_checkpoint"


class _Entry(msgspec.Struct, rename="pascal"):
    pod_uid: str = msgspec.field(name="PodUID")
    container_name: str
    resource_name: str
    device_ids: dict[str, list[str]] = msgspec.field(name="DeviceIDs")
    alloc_resp: str


class _Contents(msgspec.Struct, rename="pascal"):
    pod_device_entries: list[_Entry] | None = None
    registered_devices: dict[str, list[str]] | None = None


class _File(msgspec.Struct, rename="pascal"):
    data: msgspec.Raw
    checksum: int


_file = msgspec.json.Decoder(_File)
_contents = msgspec.json.Decoder(_Contents)


def text_of(
    holdings: Iterable[tuple[str, str, str, HeldDevices]], registered: Mapping[str, list[str]]
) -> bytes:
    """Return the file that says who holds what, and which devices are healthy."""
    entries = [
        _Entry(
            pod_uid=uid,
            container_name=container,
            resource_name=resource,
            device_ids={str(node): list(ids) for node, ids in sorted(holding.by_node.items())},
            alloc_resp=b64encode(holding.answer).decode(),
        )
        for uid, container, resource, holding in holdings
    ]
    contents = msgspec.json.encode(_Contents(entries, dict(registered)))
    return msgspec.json.encode(_File(msgspec.Raw(contents), _checksum(contents)))


def read(text: bytes) -> tuple[list[tuple[str, str, str, HeldDevices]], list[str]]:
    """Return who held what, and the resources that were registered.

    Raises:
        ValueError: it is no checkpoint, or not the one that was written.
    """
    file = _file.decode(text)
    raw = bytes(file.data)
    if _checksum(raw) != file.checksum:
        raise ValueError("the device checkpoint is not what was written: its checksum differs")
    contents = _contents.decode(raw)
    holdings = [
        (
            entry.pod_uid,
            entry.container_name,
            entry.resource_name,
            HeldDevices(
                {int(node): tuple(ids) for node, ids in entry.device_ids.items()},
                b64decode(entry.alloc_resp),
            ),
        )
        for entry in contents.pod_device_entries or ()
    ]
    return holdings, list(contents.registered_devices or ())


def _checksum(text: bytes) -> int:
    value = 0x811C9DC5
    for byte in text:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
