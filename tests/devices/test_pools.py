from windtunnel.devices import (
    GpuPool,
    OtherDevice,
    is_pool_config_map,
    parse_pools,
    pool_document,
    pool_of,
)


def test_a_pool_survives_the_way_through_its_config_map() -> None:
    pool = GpuPool(
        gpu_product="NVIDIA H100 80GB HBM3",
        gpu_count=8,
        gpu_memory=81559,
        other_devices=(OtherDevice("example.com/nic", 2),),
    )
    tree = pool_document("h100", pool)

    assert parse_pools(tree) == {"h100": pool}
    assert is_pool_config_map(tree["metadata"]["namespace"], tree["metadata"]["name"])
    assert pool.capacity() == {"nvidia.com/gpu": "8", "example.com/nic": "2"}


def test_labels_are_those_of_the_catalogue() -> None:
    labels = GpuPool(gpu_product="NVIDIA H100 80GB HBM3", gpu_count=8, gpu_memory=81559).labels()

    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert labels["nvidia.com/gpu.memory"] == "81559"
    assert labels["nvidia.com/gpu.family"] == "hopper"
    assert labels["nvidia.com/mig.capable"] == "true"


def test_a_model_that_nobody_knows_has_no_family() -> None:
    labels = GpuPool(gpu_product="Voodoo 2", gpu_count=1, gpu_memory=12).labels()

    assert labels["nvidia.com/gpu.product"] == "Voodoo-2"
    assert "nvidia.com/gpu.family" not in labels


def test_no_gpus_no_labels() -> None:
    assert GpuPool().labels() == {}


def test_a_node_names_its_pool() -> None:
    node = {"metadata": {"labels": {"run.ai/simulated-gpu-node-pool": "h100"}}}

    assert pool_of(node) == "h100"
    assert pool_of({"metadata": {}}) == ""
