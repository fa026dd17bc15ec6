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
from windtunnel.devices.sharing import Sharing

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


class MigInstance(msgspec.Struct, frozen=True):
    """One slice of a GPU. Beyond the original."""

    id: str = ""
    profile: str = ""
    """What NVML calls it: ``1g.5gb``."""
    start: int = 0
    """The memory slice that it begins at."""
    status: GpuStatus = FREE


class TopologyGpu(msgspec.Struct, frozen=True):
    """One GPU."""

    id: str = ""
    status: GpuStatus = FREE
    fault: str = ""
    """What is wrong with it; empty for a sound one. Beyond the original."""
    mig: tuple[MigInstance, ...] | None = None
    """Its slices; None where it is not to be cut, which is something else than cut into none."""


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
    sharing: Sharing | None = None
    """How often each GPU or slice is offered; None for once. Beyond the original."""


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
    if topology.sharing is not None:
        lines.append(f"sharing: {_flow(topology.sharing)}")
    return "\n".join(lines) + "\n"


def _write_gpu(lines: list[str], gpu: TopologyGpu) -> None:
    lines.append(f"    - id: {scalar(gpu.id)}")
    _write_status(lines, gpu.status, "      ")
    if gpu.fault:
        lines.append(f"      fault: {scalar(gpu.fault)}")
    if gpu.mig is None:
        return
    lines.append("      mig:" if gpu.mig else "      mig: []")
    for one in gpu.mig:
        lines += (
            f"        - id: {scalar(one.id)}",
            f"          profile: {scalar(one.profile)}",
            f"          start: {one.start}",
        )
        _write_status(lines, one.status, "          ")


def _write_status(lines: list[str], status: GpuStatus, margin: str) -> None:
    owner, usage = status.allocated_by, status.pod_gpu_usage_status
    lines += (
        f"{margin}status:",
        f"{margin}  allocatedBy:",
        f"{margin}      namespace: {scalar(owner.namespace)}",
        f"{margin}      pod: {scalar(owner.pod)}",
        f"{margin}      container: {scalar(owner.container)}",
        f"{margin}  podGpuUsageStatus:" if usage else f"{margin}  podGpuUsageStatus: {{}}",
    )
    for uid in sorted(usage):
        pod = usage[uid]
        lines += (
            f"{margin}      {scalar(uid)}:",
            f"{margin}          utilization:",
            f"{margin}              min: {pod.utilization.min}",
            f"{margin}              max: {pod.utilization.max}",
            f"{margin}          fbUsed: {pod.fb_used}",
            f"{margin}          useKnativeUtilization: {str(pod.use_knative_utilization).lower()}",
        )


def _flow(sharing: Sharing) -> str:
    """Write what people rarely read as JSON, which is YAML, too."""
    return msgspec.json.encode(sharing).decode()
