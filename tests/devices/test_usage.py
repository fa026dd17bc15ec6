"""Tests of how much a pod loads a GPU."""

from __future__ import annotations

import pytest

from windtunnel.devices import GpuStatus, PodUsage, Span, TopologyGpu, drawn, gpu_load, pod_usage
from windtunnel.devices.usage import fraction, memory_share, simulated_span, workload_of_kind

SHARES = [
    (11441, "0.1", 1144), (11441, "0.33", 3775), (11441, "0.5", 5720), (11441, "0.7", 8008),
    (40960, "0.1", 4096), (40960, "0.33", 13516), (40960, "0.7", 28671),
    (11441, "half", 11441), (11441, "", 11441), (11441, " 0.5", 11441), (11441, "1_0", 11441),
    (40537, "1.5", 60805), (40537, "-0.5", -20268), (40537, "NaN", -(1 << 63)),
    (40537, "1e39", 40537),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "text", "want"), SHARES)
def test_memory_in_use_is_a_share_in_single_precision(memory: int, text: str, want: int) -> None:
    assert memory_share(memory, fraction(text)) == want


SPANS = {
    "10-30": Span(10, 30), "80": Span(80, 80), "10%": Span(10, 10), "10--30": Span(10, 30),
    "150": Span(150, 150), "10-": Span(10, 10), "30-10": Span(10, 30), "5x": Span(5, 5),
    "abc": None, " 10": None, "-5": None, "": None, "٣": None,
    "99999999999999999999": None, "1-99999999999999999999": None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "want"), SPANS.items(), ids=SPANS)
def test_the_annotation_for_load_is_read(text: str, want: Span | None) -> None:
    assert simulated_span(text) == want


def usage(
    name: str = "p", *, running: bool = True, simulated: str | None = None, workload: str = ""
) -> PodUsage:
    return pod_usage(
        name=name, running=running, memory_mib=100, simulated=simulated, workload=workload
    )


FULL = 100
LOADS = {
    "a plain pod is fully busy": (usage(), PodUsage(utilization=Span(100, 100), fb_used=FULL)),
    "a pod that does not run is idle, and holds its memory": (
        usage(running=False, simulated="50"),
        PodUsage(fb_used=FULL),
    ),
    "an idle pod by name is idle whatever it says": (
        usage("runai-idle-gpu-1", simulated="50"),
        PodUsage(fb_used=FULL),
    ),
    "the annotation goes before the workload": (
        usage(simulated="10-30", workload="train"),
        PodUsage(utilization=Span(10, 30), fb_used=FULL),
    ),
    "an annotation that says nothing does not count": (
        usage(simulated="much", workload="build"),
        PodUsage(fb_used=FULL),
    ),
    "training": (usage(workload="train"), PodUsage(utilization=Span(80, 100), fb_used=FULL)),
    "inference follows requests": (
        usage(workload="inference"),
        PodUsage(fb_used=FULL, use_knative_utilization=True),
    ),
    "an unknown workload is fully busy": (
        usage(workload="mining"),
        PodUsage(utilization=Span(100, 100), fb_used=FULL),
    ),
}


@pytest.mark.parametrize(("got", "want"), LOADS.values(), ids=LOADS)
def test_usage(got: PodUsage, want: PodUsage) -> None:
    assert got == want


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        ("TrainingWorkload", "train"), ("DistributedWorkload", "distributed-inference"),
        ("InferenceWorkload", "inference"), ("InteractiveWorkload", "interactive"), ("Other", ""),
    ],
)  # fmt: skip
def test_a_workload_is_named_by_its_kind(kind: str, want: str) -> None:
    assert workload_of_kind(kind) == want


def test_the_load_of_a_gpu_is_the_sum_of_its_pods_and_never_more_than_all() -> None:
    pods = {
        "a": PodUsage(utilization=Span(30, 30), fb_used=60),
        "b": PodUsage(use_knative_utilization=True, fb_used=60),
    }
    gpu = TopologyGpu(status=GpuStatus(pod_gpu_usage_status=pods))

    assert gpu_load(gpu, 500, lambda span: span.min, lambda uid: 5) == (35, 120)
    assert gpu_load(gpu, 100, lambda span: span.min, lambda uid: 90) == (100, 100)


def test_the_upper_end_of_a_range_is_never_drawn() -> None:
    assert [drawn(Span(10, 13), lambda n, k=k: k % n) for k in range(4)] == [10, 11, 12, 10]
    assert drawn(Span(7, 7), lambda n: 1 // 0) == 7
    assert drawn(Span(13, 10), lambda n: 0) == 10
