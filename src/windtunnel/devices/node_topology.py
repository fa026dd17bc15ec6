"""The document of one node's GPUs: which there are, who has them, how busy they look.

Everything meets here: the status updater writes it, device plugins, exporters and ``nvidia-smi``
read it. Written in the exact shape of the original, read in any: fields may be missing, null or
unknown, for older releases and users write these documents, too.

Source: fake-gpu-operator 0.2, ConfigMap ``topology-<node>``.
"""

from __future__ import annotations

import re
import uuid
from functools import lru_cache
from typing import Final

import msgspec
import yaml

from windtunnel.devices.documents import load_yaml, without_nulls
from windtunnel.devices.pools import OtherDevice

NODE_TOPOLOGY_LABEL: Final = "node-topology"
NODE_NAME_LABEL: Final = "node-name"
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*\.?[0-9]*)([eE][-+]?[0-9]+)?")
_DASHED: Final = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+){3,}")
"""Ids: too many dashes for a number or a date."""
_ENDLESS: Final = 1 << 30
_NAMESPACE: Final = uuid.UUID(int=0)


class AllocatedBy(msgspec.Struct, frozen=True):
    """The container that has a GPU; all empty when nobody has."""

    namespace: str = ""
    pod: str = ""
    container: str = ""


NOBODY: Final = AllocatedBy()


class Span(msgspec.Struct, frozen=True):
    """A range of per cent."""

    min: int = 0
    max: int = 0


class PodUsage(msgspec.Struct, frozen=True, rename="camel"):
    """How one pod loads one GPU."""

    utilization: Span = Span()
    fb_used: int = 0
    """MiB."""
    use_knative_utilization: bool = False
    """Whether the load follows the requests that Prometheus counts, instead of the range."""


class GpuStatus(msgspec.Struct, frozen=True, rename="camel"):
    """Who has a GPU, and who loads it, by pod UID."""

    allocated_by: AllocatedBy = NOBODY
    pod_gpu_usage_status: dict[str, PodUsage] = {}


FREE: Final = GpuStatus()


class TopologyGpu(msgspec.Struct, frozen=True):
    """One GPU."""

    id: str = ""
    status: GpuStatus = FREE
    fault: str = ""
    """What is wrong with it; empty for a sound one. Beyond the original."""


class NodeTopology(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The GPUs of one node."""

    gpu_memory: int = 0
    """MiB of one GPU."""
    gpu_product: str = ""
    driver_version: str = ""
    cuda_version: str = ""
    gpus: tuple[TopologyGpu, ...] = ()
    mig_strategy: str = ""
    other_devices: tuple[OtherDevice, ...] = ()

    def capacity(self) -> dict[str, str]:
        """Return the extended resources of the node, as its status writes them."""
        others = {device.name: str(device.count) for device in self.other_devices}
        return {"nvidia.com/gpu": str(len(self.gpus)), **others}


def gpu_id(node: str, index: int) -> str:
    """Return the id of a node's GPU; the same node always has the same."""
    return f"GPU-{uuid.uuid5(_NAMESPACE, f'{node}-{index}')}"


def node_config_map_name(topology_name: str, node: str) -> str:
    """Return the name of the ConfigMap of a node, given that of the cluster's."""
    return f"{topology_name}-{node}"


def parse_node_topology(text: str) -> NodeTopology:
    """Read a node's document.

    Raises:
        ValueError: the text is no YAML, or a field is of another type.
    """
    found = load_yaml(text)
    if found is None:
        return NodeTopology()
    try:
        return msgspec.convert(without_nulls(found), type=NodeTopology)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def node_topology_text(topology: NodeTopology) -> str:
    """Write a node's document, byte for byte as the original does."""
    lines = [
        f"gpuMemory: {topology.gpu_memory}",
        f"gpuProduct: {_scalar(topology.gpu_product)}",
    ]
    if topology.driver_version:
        lines.append(f"driverVersion: {_scalar(topology.driver_version)}")
    if topology.cuda_version:
        lines.append(f"cudaVersion: {_scalar(topology.cuda_version)}")
    lines.append("gpus:" if topology.gpus else "gpus: []")
    for gpu in topology.gpus:
        _write_gpu(lines, gpu)
    lines.append(f"migStrategy: {_scalar(topology.mig_strategy)}")
    if topology.other_devices:
        lines.append("otherDevices:")
        for device in topology.other_devices:
            lines.append(f"    - name: {_scalar(device.name)}")
            lines.append(f"      count: {device.count}")
    return "\n".join(lines) + "\n"


def _write_gpu(lines: list[str], gpu: TopologyGpu) -> None:
    owner, usage = gpu.status.allocated_by, gpu.status.pod_gpu_usage_status
    lines += (
        f"    - id: {_scalar(gpu.id)}",
        "      status:",
        "        allocatedBy:",
        f"            namespace: {_scalar(owner.namespace)}",
        f"            pod: {_scalar(owner.pod)}",
        f"            container: {_scalar(owner.container)}",
        "        podGpuUsageStatus:" if usage else "        podGpuUsageStatus: {}",
    )
    for uid in sorted(usage):
        pod = usage[uid]
        lines += (
            f"            {_scalar(uid)}:",
            "                utilization:",
            f"                    min: {pod.utilization.min}",
            f"                    max: {pod.utilization.max}",
            f"                fbUsed: {pod.fb_used}",
            f"                useKnativeUtilization: {str(pod.use_knative_utilization).lower()}",
        )
    if gpu.fault:
        lines.append(f"      fault: {_scalar(gpu.fault)}")


@lru_cache(maxsize=8192)
def _scalar(text: str) -> str:
    """Write a text plainly where it reads back as itself, else in the quotes of Go's YAML."""
    if _DASHED.fullmatch(text):
        return text
    style = '"' if not text.isprintable() or _reads_as_another_type(text) else None
    emitted = yaml.dump(
        text, Dumper=yaml.SafeDumper, default_style=style, allow_unicode=True, width=_ENDLESS
    )
    return str(emitted).removesuffix("\n").removesuffix("\n...")


def _reads_as_another_type(text: str) -> bool:
    """Say whether a reader would take the plain text for a number, a date, a truth or nothing."""
    if text in ("", "~") or text.lower() == "null":
        return True
    try:
        if _NUMBER.fullmatch(text):
            return True
        return not isinstance(load_yaml(text), str | dict | list | None)
    except ValueError:
        return False  # no plain scalar at all: the emitter puts it into quotes
