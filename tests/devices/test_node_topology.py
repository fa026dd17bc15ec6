"""Tests of the document of one node's GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.devices.cut import EVERYTHING, cut_node, slicing

from windtunnel.devices import (
    AllocatedBy,
    GpuStatus,
    NodeTopology,
    OtherDevice,
    PodUsage,
    Span,
    TopologyGpu,
    gpu_id,
    node_topology_text,
    parse_node_topology,
)

TAKEN = TopologyGpu(
    id="GPU-1",
    status=GpuStatus(
        AllocatedBy("ml", "p1", "main"),
        {"uid": PodUsage(utilization=Span(10, 30), fb_used=11441)},
    ),
)
FULL = NodeTopology(
    gpu_memory=81920,
    gpu_product="NVIDIA H100 80GB HBM3",
    driver_version="550.163.01",
    cuda_version="12.4",
    gpus=(TAKEN, TopologyGpu(id="GPU-2", fault="lost")),
    mig_strategy="mixed",
    other_devices=(OtherDevice("example.com/nic", 2),),
)
FULL_TEXT = """\
gpuMemory: 81920
gpuProduct: NVIDIA H100 80GB HBM3
driverVersion: 550.163.01
cudaVersion: "12.4"
gpus:
    - id: GPU-1
      status:
        allocatedBy:
            namespace: ml
            pod: p1
            container: main
        podGpuUsageStatus:
            uid:
                utilization:
                    min: 10
                    max: 30
                fbUsed: 11441
                useKnativeUtilization: false
    - id: GPU-2
      status:
        allocatedBy:
            namespace: ""
            pod: ""
            container: ""
        podGpuUsageStatus: {}
      fault: lost
migStrategy: mixed
otherDevices:
    - name: example.com/nic
      count: 2
"""


@pytest.mark.parametrize(
    ("node", "index", "want"),
    [
        ("kw1", 0, "GPU-af26cdcc-0b48-5759-b6f4-4f5f9be7a88e"),
        ("kw1", 1, "GPU-2c32688d-7811-5265-82c2-a92490a3425a"),
        ("real1", 0, "GPU-f03fa26d-6edd-5234-a21f-bf2b95c45f79"),
    ],
)
def test_a_gpu_has_the_same_id_for_ever(node: str, index: int, want: str) -> None:
    assert gpu_id(node, index) == want


def test_a_document_is_written_to_the_letter() -> None:
    assert node_topology_text(FULL) == FULL_TEXT


def test_what_a_node_has_not_is_left_out_or_empty() -> None:
    text = node_topology_text(NodeTopology(gpu_product="Tesla-K80", mig_strategy="mixed"))

    assert text == "gpuMemory: 0\ngpuProduct: Tesla-K80\ngpus: []\nmigStrategy: mixed\n"


def test_a_document_is_read_as_it_was_written() -> None:
    assert parse_node_topology(FULL_TEXT) == FULL


SLOPPY = {
    "nothing at all": ("", NodeTopology()),
    "null fields": (
        "gpus: [{id: a, status: null}, {id: b, status: {allocatedBy: null}}]",
        NodeTopology(gpus=(TopologyGpu(id="a"), TopologyGpu(id="b"))),
    ),
    "missing fields": ("gpuMemory: 5\n", NodeTopology(gpu_memory=5)),
    "unknown fields": ("gpuMemory: 5\nfuture: {a: 1}\n", NodeTopology(gpu_memory=5)),
    "JSON": ('{"gpuProduct": "X", "gpus": []}', NodeTopology(gpu_product="X")),
}


@pytest.mark.parametrize(("text", "want"), SLOPPY.values(), ids=SLOPPY)
def test_a_reader_bears_with(text: str, want: NodeTopology) -> None:
    assert parse_node_topology(text) == want


@pytest.mark.parametrize("text", ["gpus: [\n", "gpus: 3\n", "x\n", "gpuMemory: much\n"])
def test_a_broken_document_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"yaml: line|Expected"):
        parse_node_topology(text)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("12.4", '"12.4"'), ("1e3", '"1e3"'), ("yes", '"yes"'), ("null", '"null"'),
        ("a: b", "'a: b'"), ("#x", "'#x'"), ("it's", "it's"), ("550.163.01", "550.163.01"),
    ],
)  # fmt: skip
def test_a_text_is_quoted_as_go_quotes_it(text: str, want: str) -> None:
    written = node_topology_text(NodeTopology(gpu_product=text)).splitlines()[1]

    assert written == f"gpuProduct: {want}"


@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=12))
def test_any_text_is_read_as_it_was_written(text: str) -> None:
    document = NodeTopology(gpu_product=text)

    assert parse_node_topology(node_topology_text(document)).gpu_product == text


def test_slices_and_sharing_are_read_back_as_they_were() -> None:
    topology = cut_node({"2g.20gb": 2}, {}, None, sharing=slicing(4, renameByDefault=True))

    assert parse_node_topology(node_topology_text(topology)) == topology


def parts(value: Any) -> Iterator[msgspec.Struct]:
    """Yield a struct and all that it is made of."""
    match value:
        case msgspec.Struct():
            yield value
            inner = [getattr(value, one.name) for one in msgspec.structs.fields(value)]
        case tuple():
            inner = list(value)
        case dict():
            inner = list(value.values())
        case _:
            inner = []
    for one in inner:
        yield from parts(one)


def by_default(field: msgspec.structs.FieldInfo) -> Any:
    factory = field.default_factory
    return field.default if factory is msgspec.NODEFAULT else factory()


def test_no_field_is_lost_whichever_comes_to_be() -> None:
    for part in parts(EVERYTHING):
        fields = msgspec.structs.fields(part)
        unsaid = [one.name for one in fields if getattr(part, one.name) == by_default(one)]
        assert unsaid == [], f"EVERYTHING must say them of a {type(part).__name__}"

    assert parse_node_topology(node_topology_text(EVERYTHING)) == EVERYTHING
