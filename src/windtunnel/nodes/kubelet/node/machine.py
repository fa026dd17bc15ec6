"""What this machine is: the only place that looks at it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine, in the units of a node's status."""

    cpus: int
    memory_kib: int
    storage_bytes: int
    architecture: str
    boot_id: str
    machine_id: str
    system_uuid: str
    kernel_version: str
    os_image: str
    swap_bytes: int
    old_cgroups: bool
    """Whether it has the first version of cgroups."""
    app_armor: bool = False
    """Whether its kernel confines programs by AppArmor."""


def look(root: Path) -> Machine:
    """Look at the machine; ``root`` lies on the disk that counts."""
    memory = _memory()
    place = root if root.exists() else Path("/")
    disk = os.statvfs(place)
    machine_id = _text("/etc/machine-id") or _text("/proc/sys/kernel/random/boot_id")
    return Machine(
        cpus=os.cpu_count() or 1,
        memory_kib=memory.get("MemTotal", 0),
        storage_bytes=disk.f_blocks * disk.f_frsize,
        architecture={"x86_64": "amd64", "aarch64": "arm64"}.get(
            platform.machine(), platform.machine()
        ),
        boot_id=_text("/proc/sys/kernel/random/boot_id"),
        machine_id=machine_id,
        system_uuid=_text("/sys/class/dmi/id/product_uuid") or machine_id,
        kernel_version=platform.release(),
        os_image=_os_image(),
        swap_bytes=memory.get("SwapTotal", 0) * 1024,
        old_cgroups=not Path("/sys/fs/cgroup/cgroup.controllers").exists(),
        app_armor=_text("/sys/module/apparmor/parameters/enabled") == "Y",
    )


def _memory() -> dict[str, int]:
    """Return the kernel's account of memory, in KiB."""
    found = {}
    for line in _text("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdigit():
            found[name] = int(number[0])
    return found


def _os_image() -> str:
    for line in _text("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "Linux"


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
