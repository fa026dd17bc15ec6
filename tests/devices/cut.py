"""Documents of nodes whose GPUs are cut or shared, for tests."""

from __future__ import annotations

import msgspec

from windtunnel.devices import (
    AllocatedBy,
    GpuStatus,
    MigInstance,
    NodeTopology,
    OtherDevice,
    PodUsage,
    Sharing,
    Span,
    TopologyGpu,
    geometry_of,
    gpu_id,
    slice_id,
)

A100 = "NVIDIA-A100-SXM4-80GB"

BUSY = GpuStatus(
    AllocatedBy("ml", "p1", "main"),
    {"uid": PodUsage(Span(10, 30), fb_used=11441, use_knative_utilization=True)},
)
_SHARED = {
    "resources": [{"name": "nvidia.com/gpu", "replicas": 4, "rename": "x", "devices": [0]}],
    "renameByDefault": True,
    "failRequestsGreaterThanOne": True,
}
EVERYTHING = NodeTopology(
    gpu_memory=81920,
    gpu_product=A100,
    driver_version="550.163.01",
    cuda_version="12.4",
    gpus=(
        TopologyGpu(
            id="GPU-1",
            status=BUSY,
            fault="lost",
            mig=(MigInstance(slice_id("n", 0, 4, "3g.40gb"), "3g.40gb", 4, BUSY),),
        ),
    ),
    mig_strategy="mixed",
    other_devices=(OtherDevice("example.com/nic", 2),),
    sharing=msgspec.convert({"timeSlicing": _SHARED, "mps": _SHARED}, Sharing),
)
"""A document in which nothing has been left at its default."""


def cut_node(
    *gpus: dict[str, int] | None,
    strategy: str = "mixed",
    sharing: dict[str, object] | None = None,
    product: str = A100,
) -> NodeTopology:
    """One GPU for each argument: None for a whole one, else its slices by name."""
    return NodeTopology(
        gpu_memory=81920,
        gpu_product=product,
        gpus=tuple(_gpu(index, wishes, product) for index, wishes in enumerate(gpus)),
        mig_strategy=strategy,
        sharing=None if sharing is None else msgspec.convert(sharing, Sharing),
    )


def _gpu(index: int, wishes: dict[str, int] | None, product: str) -> TopologyGpu:
    if wishes is None:
        return TopologyGpu(id=gpu_id("n", index))
    placed = geometry_of(product).place(wishes)
    return TopologyGpu(
        id=gpu_id("n", index),
        mig=tuple(
            MigInstance(slice_id("n", index, start, profile.name), profile.name, start)
            for profile, start in placed
        ),
    )


def slicing(replicas: int, resource: str = "nvidia.com/gpu", **more: object) -> dict[str, object]:
    """A block of time slicing."""
    return {"timeSlicing": {"resources": [{"name": resource, "replicas": replicas}], **more}}


def mps(replicas: int, **more: object) -> dict[str, object]:
    """A block of MPS."""
    return {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": replicas}], **more}}
