from pathlib import Path

from windtunnel.devices import AllocatedBy, GpuStatus, NodeTopology, PodUsage, Span, TopologyGpu
from windtunnel.gpu.exporter.hostfiles import usage_files, write_usage, write_zones

USAGE = {"uid-1": PodUsage(utilization=Span(30, 30), fb_used=5720)}
HELD = GpuStatus(allocated_by=AllocatedBy("reserved", "r", "c"), pod_gpu_usage_status=USAGE)
OWN = GpuStatus(allocated_by=AllocatedBy("ml", "p", "c"), pod_gpu_usage_status=USAGE)


def files(*statuses: GpuStatus) -> dict[str, str]:
    topology = NodeTopology(gpus=tuple(TopologyGpu(status=status) for status in statuses))
    return usage_files(topology, "reserved", lambda span: span.min)


def test_only_gpus_that_are_held_for_others_have_files() -> None:
    assert files(OWN, HELD) == {
        "uid-1/metrics/gpu/1/utilization.sm": "30",
        "uid-1/metrics/gpu/1/memory.allocated": "5720000000",
    }


def test_nobody_chooses_our_paths() -> None:
    evil = GpuStatus(
        allocated_by=AllocatedBy("reserved", "r", "c"),
        pod_gpu_usage_status={"../../../etc/x": PodUsage(), "..": PodUsage(), "a/b": PodUsage()},
    )
    assert files(evil) == {}


def test_files_that_are_no_longer_wanted_go(tmp_path: Path) -> None:
    write_usage(tmp_path, files(HELD))
    one = tmp_path / "runai/proc/pod/uid-1/metrics/gpu/0/utilization.sm"
    assert one.read_text() == "30"

    write_usage(tmp_path, {})

    assert sorted(tmp_path.rglob("*")) == [
        tmp_path / "runai",
        tmp_path / "runai/proc",
        tmp_path / "runai/proc/events",
    ]


def test_zones_that_are_gone_leave_no_files(tmp_path: Path) -> None:
    write_zones(tmp_path, 3, 4)
    write_zones(tmp_path, 2, 16)

    zones = tmp_path / "var/lib/fake-gpu-operator/sys/devices/system/node"
    assert {path.parent.name: path.read_text() for path in zones.rglob("cpulist")} == {
        "node0": "0-15\n",
        "node1": "16-31\n",
    }
