"""A node's metrics as text: what Prometheus scrapes, made when something changes.

Written by hand, not by the library: a cluster of 1,000 nodes has 24,000 series, which change one
node at a time, and values are whole numbers, which Go's library writes without a point.

A metric is a line of ``FAMILIES``. A GPU that is cut has a series for each slice and none of its
own, and slices tell no load.

Source: fake-gpu-operator 0.2 for names, labels and help; the text format 0.0.4 of Prometheus;
dcgm-exporter 4 for slices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
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

Page = tuple[str, ...]
"""The series of one node: a text for each family, in the order of ``FAMILIES``."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of one GPU or of one slice."""

    memory_mib: int
    used_mib: int
    per_cent: int | None = None
    """Its load; None where nobody measures it."""


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: a gauge with a series for each GPU or slice."""

    name: str
    help: str
    of: Callable[[Measured], int | None]
    """Its value; None where there is to be no series."""


FAMILIES: Final = (
    Family("DCGM_FI_DEV_FB_FREE", "GPU Framebuffer Free", lambda it: it.memory_mib - it.used_mib),
    Family("DCGM_FI_DEV_FB_USED", "GPU Framebuffer Used", lambda it: it.used_mib),
    Family("DCGM_FI_DEV_GPU_UTIL", "GPU Utilization", lambda it: it.per_cent),
)
"""What is told, in the order of the names."""


def page_of(topology: NodeTopology, host_name: str, loads: Sequence[tuple[int, int]]) -> Page:
    """Return the series of one node.

    Args:
        topology: What it has, and who has that.
        host_name: The label ``Hostname``.
        loads: For each GPU, per cent and the MiB in use.
    """
    found = list(_measured(topology, host_name, loads))
    texts = []
    for family in FAMILIES:
        told = ((labels, family.of(measured)) for labels, measured in found)
        series = (
            f"{family.name}{{{labels}}} {value}\n" for labels, value in told if value is not None
        )
        texts.append("".join(series))
    return tuple(texts)


def _measured(
    topology: NodeTopology, host_name: str, loads: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, Measured]]:
    """Yield the labels of each GPU or slice, and what is measured of it."""
    host, product = _quoted(host_name), _quoted(topology.gpu_product)

    def labels(index: int, gpu: TopologyGpu, owner: AllocatedBy) -> str:
        return (
            f"Hostname={host},UUID={_quoted(gpu.id)},container={_quoted(owner.container)},"
            f'device="nvidia{index}",gpu="{index}",modelName={product},'
            f"namespace={_quoted(owner.namespace)},pod={_quoted(owner.pod)}"
        )

    is_cut = topology.mig_strategy not in ("", "none")
    for index, (gpu, (per_cent, mib)) in enumerate(zip(topology.gpus, loads, strict=True)):
        if not (gpu.mig and is_cut):
            whole = Measured(topology.gpu_memory, mib, per_cent)
            yield labels(index, gpu, gpu.status.allocated_by), whole
            continue
        for one, profile in _profiles(topology, gpu.mig):
            instance = gpu_instance_id(geometry_of(topology.gpu_product), profile, one.start)
            pods = one.status.pod_gpu_usage_status.values()
            taken = min(sum(pod.fb_used for pod in pods), profile.memory_mib)
            which = f'GPU_I_ID="{instance}",GPU_I_PROFILE={_quoted(one.profile)}'
            rest = labels(index, gpu, one.status.allocated_by)
            yield f"{which},{rest}", Measured(profile.memory_mib, taken)


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
    columns = zip(FAMILIES, *pages, strict=True)
    told = ((family, "".join(texts)) for family, *texts in columns)
    return "".join(
        f"# HELP {family.name} {family.help}\n# TYPE {family.name} gauge\n{series}"
        for family, series in told
        if series
    )


def exporter_name(node: str) -> str:
    """Return what the exporter of a node calls its host: a pod's name, and always the same."""
    digest = hashlib.sha1(node.encode(), usedforsecurity=False).hexdigest()
    return f"nvidia-dcgm-exporter-{digest[:6]}"


def _quoted(text: str) -> str:
    if "\\" in text or '"' in text or "\n" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
