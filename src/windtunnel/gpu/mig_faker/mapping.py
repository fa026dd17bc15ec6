"""From a configuration of slices to the mapping that a driver would report.

Source: fake-gpu-operator 0.2 (mig-faker). The ids of slices are made from the node, the GPU and the
place, so that the same configuration gives the same ids; the original draws them anew each time.
"""

from __future__ import annotations

import base64
import uuid
from typing import Any, Final

from windtunnel.devices import instance_id, load_yaml
from windtunnel.machinery.tree import Tree, dig, encode

_NAMESPACE: Final = uuid.UUID(int=0)
_EVERY: Final = "all"


def parse_wishes(text: str) -> list[Tree]:
    """Return the entries of a configuration.

    Raises:
        ValueError: it is no YAML, or not of this form.
    """
    found = load_yaml(text)
    if not isinstance(found, dict):
        raise ValueError("the configuration is not a mapping")
    entries = dig(found, "mig-configs", "selected")
    if entries is None:
        return []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("mig-configs.selected is not a list of mappings")
    return entries


def mapping_of(entries: list[Tree], node: str, product: str, gpus: int) -> dict[str, list[Tree]]:
    """Return the slices of each GPU by index; a later entry for a GPU replaces an earlier one.

    Args:
        entries: What is asked for.
        node: The node's name.
        product: The value of its label for the GPU product.
        gpus: How many GPUs it has, for entries that are for all of them.

    Raises:
        ValueError: an index is none, or a slice does not exist.
    """
    found: dict[str, list[Tree]] = {}
    for entry in entries:
        devices = entry.get("devices")
        if not isinstance(devices, list) or not devices:
            continue
        for index in _indexes(devices[0], gpus):
            found[str(index)] = [
                _slice(wish, node, index, product) for wish in entry.get("mig-devices") or ()
            ]
    return found


def encoded(mapping: dict[str, list[Tree]]) -> str:
    """Return a mapping as it stands in an annotation."""
    ordered = {index: mapping[index] for index in sorted(mapping)}
    return base64.b64encode(encode(ordered)).decode()


def _indexes(device: Any, gpus: int) -> list[int]:
    if device == _EVERY:
        return list(range(gpus))
    if isinstance(device, int) and not isinstance(device, bool):
        return [device]
    text = str(device)
    if not text.isascii() or not text.lstrip("+-").isdecimal():
        raise ValueError(f"failed to parse gpu index {text}: it is not a number")
    return [int(text)]


def _slice(wish: Any, node: str, index: int, product: str) -> Tree:
    if not isinstance(wish, dict):
        raise ValueError("an entry of mig-devices is not a mapping")
    position = wish.get("position") or 0
    if not isinstance(position, int) or isinstance(position, bool):
        raise ValueError(f"position {position} is not a whole number")
    identity = uuid.uuid5(_NAMESPACE, f"{node}-{index}-{position}-{wish.get('name')}")
    # Readers expect a random one by its version; nobody can tell how it was made.
    return {
        "position": position,
        "device_uuid": f"MIG-{uuid.UUID(bytes=identity.bytes, version=4)}",
        "gpu_instance_id": instance_id(product, str(wish.get("name", ""))),
    }
