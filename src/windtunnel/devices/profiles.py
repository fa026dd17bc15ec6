"""Profiles of GPU models: a tree of facts, what a pool changes of it, and what a node needs.

Source: fake-gpu-operator 0.2. A profile is the ConfigMap ``gpu-profile-<name>``; only six of its
fields matter here, the rest feeds the mock of NVML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from windtunnel.machinery.tree import Tree, dig

PROFILE_KEY: Final = "profile.yaml"
_PREFIX: Final = "gpu-profile-"
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuShape:
    """What the GPUs of one node are."""

    product: str = ""
    memory_mib: int = 0
    count: int = 0
    driver_version: str = ""
    cuda_version: str = ""


def profile_config_map_name(profile: str) -> str:
    """Return the name of the ConfigMap that holds a profile."""
    return _PREFIX + profile


def profile_of_config_map(name: str) -> str:
    """Return the profile that a ConfigMap of this name holds, or ""."""
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""


def merged(base: Any, changes: Any) -> Any:
    """Return ``base`` with ``changes`` on top: maps merge, anything else replaces."""
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    result = dict(base)
    for key, value in changes.items():
        result[key] = merged(result[key], value) if key in result else value
    return result


def shape_of(profile: Tree, *, versions: bool = True) -> GpuShape:
    """Return what a profile says of a node's GPUs; fields of another type count as missing.

    Args:
        profile: The tree, changes already on top.
        versions: Whether it may say which driver and CUDA there are.
    """
    total = _whole(dig(profile, "device_defaults", "memory", "total_bytes"))
    listed = profile.get("devices")
    count = _whole(profile.get("device_count"))
    if count <= 0:
        count = len(listed) if isinstance(listed, list) else 0
    return GpuShape(
        product=_text(dig(profile, "device_defaults", "name")),
        memory_mib=total // _MIB,
        count=count,
        driver_version=_text(dig(profile, "system", "driver_version")) if versions else "",
        cuda_version=_text(dig(profile, "system", "cuda_version")) if versions else "",
    )


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
