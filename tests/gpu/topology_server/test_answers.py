"""Tests of what the topology server answers."""

from __future__ import annotations

import json

import pytest
from tests.devices.cut import cut_node

from windtunnel.devices import node_topology_text
from windtunnel.gpu.http_server import HttpReply
from windtunnel.gpu.topology_server.answers import answer
from windtunnel.machinery.tree import Tree

POOLS = (
    "nodePools:\n  d: {gpuProduct: K, gpuCount: 2, gpuMemory: 5, "
    "otherDevices: [{name: x, count: 3}]}\n  new: {gpu: {profile: h100}}\n"
    "nodePoolLabelKey: key\nmigStrategy: mixed\n"
)
NODE = (
    "gpuMemory: 5\ngpus:\n- id: a\n  status:\n    podGpuUsageStatus:\n"
    "      u: {utilization: {min: 1, max: 2}, fbUsed: 3}\n- id: b\n"
)


def read(name: str) -> Tree | None:
    texts = {"topology": POOLS, "topology-n": NODE, "topology-broken": "gpus: ["}
    if name == "topology-bare":
        return {}
    return {"data": {"topology.yml": texts[name]}} if name in texts else None


def ask(path: str) -> HttpReply:
    return answer(path, "topology", read)


def test_pools_are_seen_as_a_reader_of_the_older_form_sees_them() -> None:
    assert json.loads(ask("/topology").body) == {
        "NodePools": {
            "d": {
                "GpuCount": 2,
                "GpuMemory": 5,
                "GpuProduct": "K",
                "OtherDevices": [{"Name": "x", "Count": 3}],
            },
            "new": {"GpuCount": 0, "GpuMemory": 0, "GpuProduct": "", "OtherDevices": None},
        },
        "NodePoolLabelKey": "key",
        "MigStrategy": "mixed",
    }


@pytest.mark.parametrize("path", ["/topology/nodes/n", "/topology/nodes/n/more"])
def test_a_node_has_null_where_its_document_has_nothing(path: str) -> None:
    usage = {
        "u": {"Utilization": {"Min": 1, "Max": 2}, "FbUsed": 3, "UseKnativeUtilization": False}
    }
    nobody = {"Namespace": "", "Pod": "", "Container": ""}
    assert json.loads(ask(path).body) == {
        "GpuMemory": 5,
        "GpuProduct": "",
        "DriverVersion": "",
        "CudaVersion": "",
        "Gpus": [
            {"ID": "a", "Status": {"AllocatedBy": nobody, "PodGpuUsageStatus": usage}},
            {"ID": "b", "Status": {"AllocatedBy": nobody, "PodGpuUsageStatus": None}},
        ],
        "MigStrategy": "",
        "OtherDevices": None,
    }


def test_a_config_map_without_a_document_has_no_gpus() -> None:
    assert json.loads(ask("/topology/nodes/bare").body)["Gpus"] is None


PLAIN = "text/plain; charset=utf-8"
OTHERS = {
    "/topology/nodes/none": HttpReply(404, b"Node topology not found"),
    "/topology/nodes/": HttpReply(400, b"Can't get node name from url /topology/nodes/"),
    "/topology/": HttpReply(404, b"404 page not found\n", PLAIN),
    "/": HttpReply(404, b"404 page not found\n", PLAIN),
    "/topology/nodes/broken": HttpReply(
        500,
        b"failed to parse node topology: yaml: line 1: did not find expected node content",
    ),
}


@pytest.mark.parametrize(("path", "want"), OTHERS.items(), ids=OTHERS)
def test_an_answer_that_is_no_document(path: str, want: HttpReply) -> None:
    assert ask(path) == want


def test_a_missing_slash_is_said() -> None:
    found = ask("/topology/nodes")

    assert (found.status, found.location) == (307, "/topology/nodes/")


def test_a_missing_document_of_pools_is_said() -> None:
    found = answer("/topology", "other", read)

    assert found.body == b'failed to get topology configmap: configmaps "other" not found'
    assert found.status == 500


def test_a_gpu_that_is_cut_lists_its_slices() -> None:
    topology = cut_node({"3g.40gb": 1}, None)
    text = node_topology_text(topology)
    reply = answer("/topology/nodes/n", "topology", lambda _: {"data": {"topology.yml": text}})

    first, second = json.loads(reply.body)["Gpus"]

    assert "Mig" not in second
    (one,) = first["Mig"]
    assert (topology.gpus[0].mig or ())[0].id == one.pop("ID")
    assert one == {
        "Profile": "3g.40gb",
        "Start": 0,
        "InstanceID": 1,
        "ProfileID": 9,
        "Size": 4,
        "Status": {
            "AllocatedBy": {"Namespace": "", "Pod": "", "Container": ""},
            "PodGpuUsageStatus": {},
        },
    }
