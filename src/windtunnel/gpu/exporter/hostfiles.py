"""Files on the host: what pods that share a GPU see of it, and which processors a zone has.

The first exist for GPUs that a reservation pod holds for others. They are written anew each time,
beside the old ones, so that no reader finds half of them.

Source: fake-gpu-operator 0.2: ``/runai/proc``, a folder a pod and GPU, and a part of ``/sys``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from windtunnel.devices import NodeTopology, Span

_FOLDER: Final = "runai/proc"
_ZONES: Final = "var/lib/fake-gpu-operator/sys/devices/system/node"
_BYTES: Final = 1_000_000
"""What the original takes for a MiB."""


def usage_files(
    topology: NodeTopology, reservation_namespace: str, draw: Callable[[Span], int]
) -> dict[str, str]:
    """Return the files by their path under ``proc/pod``."""
    files = {}
    for index, gpu in enumerate(topology.gpus):
        if gpu.status.allocated_by.namespace != reservation_namespace:
            continue
        for uid, usage in gpu.status.pod_gpu_usage_status.items():
            if "/" in uid or uid.startswith("."):
                continue  # no uid of a pod; whoever wrote it must not choose our paths
            folder = f"{uid}/metrics/gpu/{index}"
            files[f"{folder}/utilization.sm"] = str(draw(usage.utilization))
            files[f"{folder}/memory.allocated"] = str(usage.fb_used * _BYTES)
    return files


def write_usage(root: Path, files: dict[str, str]) -> None:
    """Make the host's folder hold these files and no others.

    Raises:
        OSError: the folder cannot be written.
    """
    proc = root / _FOLDER
    (proc / "events").mkdir(parents=True, exist_ok=True)
    pods, fresh = proc / "pod", proc / ".pod"
    shutil.rmtree(fresh, ignore_errors=True)
    for name, text in files.items():
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).write_text(text)
    shutil.rmtree(pods, ignore_errors=True)
    if files:
        fresh.rename(pods)


def write_zones(root: Path, zones: int, cpus: int) -> None:
    """Write which processors each zone has, and nothing of earlier zones.

    Raises:
        OSError: the folder cannot be written.
    """
    folder = root / _ZONES
    shutil.rmtree(folder, ignore_errors=True)
    for zone in range(zones):
        place = folder / f"node{zone}"
        place.mkdir(parents=True)
        first, last = zone * cpus, (zone + 1) * cpus - 1
        (place / "cpulist").write_text(f"{first}-{last}\n" if cpus else "\n")
