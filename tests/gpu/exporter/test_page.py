import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.devices.cut import A100, cut_node

from windtunnel.devices import AllocatedBy, GpuStatus, NodeTopology, TopologyGpu
from windtunnel.gpu.exporter.page import FAMILIES, exporter_name, joined, page_of

OWNER = GpuStatus(allocated_by=AllocatedBy("ml", "train-0", "main"))
TWO = NodeTopology(
    gpu_memory=40960,
    gpu_product="NVIDIA A100",
    gpus=(TopologyGpu(id="GPU-1", status=OWNER), TopologyGpu(id="GPU-2")),
)


def test_the_text_is_that_of_the_original() -> None:
    labels = (
        'Hostname="n1",UUID="GPU-1",container="main",device="nvidia0",gpu="0",'
        'modelName="NVIDIA A100",namespace="ml",pod="train-0"'
    )
    free = (
        'Hostname="n1",UUID="GPU-2",container="",device="nvidia1",gpu="1",'
        'modelName="NVIDIA A100",namespace="",pod=""'
    )

    assert joined([page_of(TWO, "n1", [(37, 1144), (0, 0)])]) == (
        "# HELP DCGM_FI_DEV_FB_FREE GPU Framebuffer Free\n"
        "# TYPE DCGM_FI_DEV_FB_FREE gauge\n"
        f"DCGM_FI_DEV_FB_FREE{{{labels}}} 39816\n"
        f"DCGM_FI_DEV_FB_FREE{{{free}}} 40960\n"
        "# HELP DCGM_FI_DEV_FB_USED GPU Framebuffer Used\n"
        "# TYPE DCGM_FI_DEV_FB_USED gauge\n"
        f"DCGM_FI_DEV_FB_USED{{{labels}}} 1144\n"
        f"DCGM_FI_DEV_FB_USED{{{free}}} 0\n"
        "# HELP DCGM_FI_DEV_GPU_UTIL GPU Utilization\n"
        "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} 37\n"
        f"DCGM_FI_DEV_GPU_UTIL{{{free}}} 0\n"
    )


def test_metrics_are_told_in_the_order_of_their_names() -> None:
    names = [family.name for family in FAMILIES]

    assert names == sorted(set(names))


def test_odd_texts_are_read_back_as_they_were() -> None:
    odd = 'a "quoted" \\ name\nin two lines'
    topology = NodeTopology(gpu_product=odd, gpus=(TopologyGpu(id="GPU-1"),))

    text = joined([page_of(topology, "n1", [(0, 0)])])

    for family in text_string_to_metric_families(text):
        assert [sample.labels["modelName"] for sample in family.samples] == [odd]


def test_where_there_are_no_gpus_there_is_nothing() -> None:
    assert joined([]) == ""
    assert joined([page_of(NodeTopology(), "n1", [])]) == ""


@pytest.mark.parametrize(("node", "name"), [("worker-1", "nvidia-dcgm-exporter-937f54")])
def test_the_name_of_a_nodes_exporter(node: str, name: str) -> None:
    assert exporter_name(node) == name


def test_a_gpu_that_is_cut_has_a_series_for_each_slice_and_none_of_its_own() -> None:
    topology = cut_node({"3g.40gb": 1, "1g.10gb": 1}, None)

    text = joined([page_of(topology, "n1", [(0, 0), (5, 7)])])

    found = [
        (
            family.name,
            sample.labels.get("GPU_I_PROFILE"),
            sample.labels.get("GPU_I_ID"),
            sample.value,
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels["gpu"] == "0"
    ]
    assert found == [
        ("DCGM_FI_DEV_FB_FREE", "3g.40gb", "1", 40192),
        ("DCGM_FI_DEV_FB_FREE", "1g.10gb", "11", 9728),
        ("DCGM_FI_DEV_FB_USED", "3g.40gb", "1", 0),
        ("DCGM_FI_DEV_FB_USED", "1g.10gb", "11", 0),
    ]
    assert (
        f'GPU_I_ID="1",GPU_I_PROFILE="3g.40gb",Hostname="n1",UUID="{topology.gpus[0].id}"' in text
    )
    assert A100 in text


def test_slices_do_not_count_where_the_strategy_is_none() -> None:
    text = joined([page_of(cut_node({"3g.40gb": 1}, strategy="none"), "n1", [(5, 7)])])

    assert "GPU_I_ID" not in text
    assert "DCGM_FI_DEV_GPU_UTIL" in text
