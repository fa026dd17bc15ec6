"""A node's metrics as text: what Prometheus scrapes, made when something changes.

Written by hand, not by the library: a cluster of 1,000 nodes has 24,000 series, which change one
node at a time, and values are whole numbers, which Go's library writes without a point.

Source: fake-gpu-operator 0.2 for names, labels and help; the text format 0.0.4 of Prometheus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import NodeTopology

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
    for index, (gpu, (per_cent, mib)) in enumerate(zip(topology.gpus, loads, strict=True)):
        owner = gpu.status.allocated_by
        labels = (
            f"Hostname={host},UUID={_quoted(gpu.id)},container={_quoted(owner.container)},"
            f'device="nvidia{index}",gpu="{index}",modelName={product},'
            f"namespace={_quoted(owner.namespace)},pod={_quoted(owner.pod)}"
        )
        free.append(f"{FAMILIES[0][0]}{{{labels}}} {topology.gpu_memory - mib}\n")
        used.append(f"{FAMILIES[1][0]}{{{labels}}} {mib}\n")
        load.append(f"{FAMILIES[2][0]}{{{labels}}} {per_cent}\n")
    return Page("".join(free), "".join(used), "".join(load))


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
