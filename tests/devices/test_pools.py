import pytest

from windtunnel.devices import GpuPool, is_pool_config_map, parse_pools, pool_document
from windtunnel.devices.pools import OtherDevice


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


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"data": {}},
        {"data": {"topology.yml": "nodePools: ["}},
        {"data": {"topology.yml": "nodePools: {a: {gpuCount: many}}"}},
    ],
)
def test_a_broken_document_is_refused(tree: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"topology\.yml"):
        parse_pools(tree)
