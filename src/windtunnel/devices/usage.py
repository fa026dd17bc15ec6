"""How much a pod loads a GPU: from what its author wrote on it to the numbers that are exported.

Nothing runs on a fake GPU, so the load is what annotations, labels and the kind of workload say. A
pod that says nothing keeps its GPU fully busy and its memory full.

Source: fake-gpu-operator 0.2.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Final

from windtunnel.devices.node_topology import PodUsage, Span, TopologyGpu

UTILIZATION: Final = "run.ai/simulated-gpu-utilization"
FRACTION: Final = "gpu-fraction"
WORKLOAD_KIND: Final = "workloadKind"
POD_GROUP: Final = "pod-group-name"

IDLE: Final = Span(0, 0)
BUSY: Final = Span(100, 100)
_IDLE_PREFIX: Final = "runai-idle-gpu-"
_SPAN: Final = re.compile(r"([0-9]*)-*([0-9]*)")
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.?[0-9]*)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"[-+]?inf(inity)?|nan", re.IGNORECASE)
_LARGEST: Final = (1 << 63) - 1
_LOWEST: Final = -(1 << 63)

_KINDS: Final = {
    "TrainingWorkload": "train",
    "DistributedWorkload": "distributed-inference",
    "InferenceWorkload": "inference",
    "InteractiveWorkload": "interactive",
}
_TRAIN: Final = Span(80, 100)
_SPANS: Final = {
    "train": _TRAIN,
    **dict.fromkeys(("build", "interactive-preemptible", "interactive", "distributed"), IDLE),
    **dict.fromkeys(("inference", "distributed-inference"), IDLE),
}
_BY_REQUESTS: Final = frozenset({"inference", "distributed-inference"})


def workload_of_kind(kind: str) -> str:
    """Return the sort of workload that the label ``workloadKind`` names, or ""."""
    return _KINDS.get(kind, "")


def simulated_span(text: str) -> Span | None:
    """Read the annotation for a pod's load: ``80`` or ``10-30``; None where it says nothing.

    A range that runs backwards is read forwards.
    """
    match = _SPAN.match(text)
    if match is None or not match[1]:
        return None
    low, high = int(match[1]), int(match[2] or match[1])
    if max(low, high) > _LARGEST:
        return None
    return Span(min(low, high), max(low, high))


def fraction(text: str) -> float:
    """Read the annotation for a pod's share of a GPU, in single precision; 1.0 where it is none."""
    if not _NUMBER.fullmatch(text) and not _SPECIAL.fullmatch(text):
        return 1.0
    try:
        single: float = struct.unpack("f", struct.pack("f", float(text)))[0]
    except OverflowError:
        return 1.0
    if math.isinf(single) and not _SPECIAL.fullmatch(text):
        return 1.0
    return single


def memory_share(memory_mib: int, share: float) -> int:
    """Return a share of a GPU's memory in MiB, cut; what is no number is the lowest one."""
    amount = memory_mib * share
    if not math.isfinite(amount) or not _LOWEST <= amount <= _LARGEST:
        return _LOWEST
    return math.trunc(amount)


def pod_usage(
    *,
    name: str,
    running: bool,
    memory_mib: int,
    share: str | None = None,
    simulated: str | None = None,
    workload: str = "",
) -> PodUsage:
    """Return how a pod loads each GPU it has.

    Args:
        name: The pod's name.
        running: Whether its phase is Running.
        memory_mib: What one GPU has.
        share: Its annotation ``gpu-fraction``.
        simulated: Its annotation ``run.ai/simulated-gpu-utilization``.
        workload: The sort of workload it is of, "" if unknown.
    """
    used = memory_share(memory_mib, 1.0 if share is None else fraction(share))
    if not running or name.startswith(_IDLE_PREFIX):
        return PodUsage(utilization=IDLE, fb_used=used)
    said = None if simulated is None else simulated_span(simulated)
    if said is not None:
        return PodUsage(utilization=said, fb_used=used)
    return PodUsage(
        utilization=_SPANS.get(workload, BUSY),
        fb_used=used,
        use_knative_utilization=workload in _BY_REQUESTS,
    )


def gpu_load(
    gpu: TopologyGpu,
    memory_mib: int,
    draw: Callable[[Span], int],
    by_requests: Callable[[str], int],
) -> tuple[int, int]:
    """Return what a GPU shows: its load in per cent and the memory in use in MiB.

    Args:
        gpu: The GPU with the usage of its pods.
        memory_mib: What it has.
        draw: Draws a number out of a range.
        by_requests: The load of a pod, by UID, that follows requests.
    """
    pods = gpu.status.pod_gpu_usage_status
    load = sum(
        by_requests(uid) if pod.use_knative_utilization else draw(pod.utilization)
        for uid, pod in pods.items()
    )
    return min(load, 100), min(sum(pod.fb_used for pod in pods.values()), memory_mib)


def drawn(span: Span, below: Callable[[int], int]) -> int:
    """Draw out of a range whose upper end is never reached; ``below(n)`` draws out of 0 … n-1."""
    low, high = min(span.min, span.max), max(span.min, span.max)
    return low if low == high else low + below(high - low)
