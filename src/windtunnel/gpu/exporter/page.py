"""A node's metrics as text: what Prometheus scrapes, made when something changes.

Written by hand, not by the library: a cluster of 1,000 nodes has 24,000 series, which change one
node at a time, and values are whole numbers, which Go's library writes without a point.

A GPU that is cut has a series for each slice and none of its own, and slices tell no load.

Source: fake-gpu-operator 0.2 for names, labels and help; the text format 0.0.4 of Prometheus;
dcgm-exporter 4 for slices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import (
    AllocatedBy,
    MigInstance,
    MigProfile,
    NodeTopology,
    TopologyGpu,
    geometry_of,
    gpu_instance_id,
)

FAMILIES: Final = (
    ("DCGM_FI_DEV_FB_FREE", "GPU Framebuffer Free"),
    ("DCGM_FI_DEV_FB_USED", "GPU Framebuffer Used"),
    ("DCGM_FI_DEV_GPU_UTIL", "GPU Utilization"),
)
"""(name, help) of what is told of each GPU, all of them gauges, in the order of their names."""


@dataclass(frozen=True, slots=True)
class Page:
    """The series of one node, a text for each family."""

    free: str
    used: str
    load: str


def page_of(topology: NodeTopology, host_name: str, loads: Sequence[tuple[int, int]]) -> Page:
    """Return the series of one node.

    Args:
        topology: What it has, and who has that.
        host_name: The label ``Hostname``.
        loads: For each GPU, per cent and the MiB in use.
    """
    free: list[str] = []
    used: list[str] = []
    load: list[str] = []
    host, product = _quoted(host_name), _quoted(topology.gpu_product)

    def labels(index: int, gpu: TopologyGpu, owner: AllocatedBy) -> str:
        return (
            f"Hostname={host},UUID={_quoted(gpu.id)},container={_quoted(owner.container)},"
            f'device="nvidia{index}",gpu="{index}",modelName={product},'
            f"namespace={_quoted(owner.namespace)},pod={_quoted(owner.pod)}"
        )

    is_cut = topology.mig_strategy not in ("", "none")
    for index, (gpu, (per_cent, mib)) in enumerate(zip(topology.gpus, loads, strict=True)):
        if gpu.mig and is_cut:
            for one, profile in _profiles(topology, gpu.mig):
                instance = gpu_instance_id(geometry_of(topology.gpu_product), profile, one.start)
                pods = one.status.pod_gpu_usage_status.values()
                taken = min(sum(pod.fb_used for pod in pods), profile.memory_mib)
                told = (
                    f'GPU_I_ID="{instance}",GPU_I_PROFILE={_quoted(one.profile)},'
                    f"{labels(index, gpu, one.status.allocated_by)}"
                )
                free.append(f"{FAMILIES[0][0]}{{{told}}} {profile.memory_mib - taken}\n")
                used.append(f"{FAMILIES[1][0]}{{{told}}} {taken}\n")
            continue
        told = labels(index, gpu, gpu.status.allocated_by)
        free.append(f"{FAMILIES[0][0]}{{{told}}} {topology.gpu_memory - mib}\n")
        used.append(f"{FAMILIES[1][0]}{{{told}}} {mib}\n")
        load.append(f"{FAMILIES[2][0]}{{{told}}} {per_cent}\n")
    return Page("".join(free), "".join(used), "".join(load))


def _profiles(
    topology: NodeTopology, slices: Iterable[MigInstance]
) -> Iterator[tuple[MigInstance, MigProfile]]:
    """Return slices with what they are; those that nobody knows are left out."""
    try:
        geometry = geometry_of(topology.gpu_product)
    except ValueError:
        return
    for one in slices:
        if one.profile in geometry.profiles:
            yield one, geometry.profiles[one.profile]


def joined(pages: Iterable[Page]) -> str:
    """Return the whole text; a family without series is left out."""
    parts: list[str] = []
    columns = list(zip(*((page.free, page.used, page.load) for page in pages), strict=True))
    for (name, help_), column in zip(FAMILIES, columns, strict=False):
        series = "".join(column)
        if series:
            parts += (f"# HELP {name} {help_}\n# TYPE {name} gauge\n", series)
    return "".join(parts)


def exporter_name(node: str) -> str:
    """Return what the exporter of a node calls its host: a pod's name, and always the same."""
    digest = hashlib.sha1(node.encode(), usedforsecurity=False).hexdigest()
    return f"nvidia-dcgm-exporter-{digest[:6]}"


def _quoted(text: str) -> str:
    if "\\" in text or '"' in text or "\n" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
