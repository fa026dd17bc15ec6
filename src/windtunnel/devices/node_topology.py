"""The document of one node's GPUs: which there are, who has them, how busy they look.

Everything meets here: the status updater writes it, device plugins, exporters and ``nvidia-smi``
read it. Written in the exact shape of the original, read in any: fields may be missing, null or
unknown, for older releases and users write these documents, too.

Source: fake-gpu-operator 0.2, ConfigMap ``topology-<node>``.
"""

from __future__ import annotations

import uuid
from typing import Final

import msgspec

from windtunnel.devices.documents import load_yaml, scalar, without_nulls
from windtunnel.devices.pools import OtherDevice

NODE_TOPOLOGY_LABEL: Final = "node-topology"
NODE_NAME_LABEL: Final = "node-name"
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
        f"gpuProduct: {scalar(topology.gpu_product)}",
    ]
    if topology.driver_version:
        lines.append(f"driverVersion: {scalar(topology.driver_version)}")
    if topology.cuda_version:
        lines.append(f"cudaVersion: {scalar(topology.cuda_version)}")
    lines.append("gpus:" if topology.gpus else "gpus: []")
    for gpu in topology.gpus:
        _write_gpu(lines, gpu)
    lines.append(f"migStrategy: {scalar(topology.mig_strategy)}")
    if topology.other_devices:
        lines.append("otherDevices:")
        for device in topology.other_devices:
            lines.append(f"    - name: {scalar(device.name)}")
            lines.append(f"      count: {device.count}")
    return "\n".join(lines) + "\n"


def _write_gpu(lines: list[str], gpu: TopologyGpu) -> None:
    owner, usage = gpu.status.allocated_by, gpu.status.pod_gpu_usage_status
    lines += (
        f"    - id: {scalar(gpu.id)}",
        "      status:",
        "        allocatedBy:",
        f"            namespace: {scalar(owner.namespace)}",
        f"            pod: {scalar(owner.pod)}",
        f"            container: {scalar(owner.container)}",
        "        podGpuUsageStatus:" if usage else "        podGpuUsageStatus: {}",
    )
    for uid in sorted(usage):
        pod = usage[uid]
        lines += (
            f"            {scalar(uid)}:",
            "                utilization:",
            f"                    min: {pod.utilization.min}",
            f"                    max: {pod.utilization.max}",
            f"                fbUsed: {pod.fb_used}",
            f"                useKnativeUtilization: {str(pod.use_knative_utilization).lower()}",
        )
    if gpu.fault:
        lines.append(f"      fault: {scalar(gpu.fault)}")
