import pytest

from windtunnel.devices import parse_pools
from windtunnel.errors import UsageError
from windtunnel.nodes.played.trees import node_trees, pool_config_map
from windtunnel.nodes.pools import PoolOrder, check, parse_order


def test_an_order_can_be_said_in_one_line() -> None:
    order = parse_order(
        "pool=a100,count=3,gpus=4,product=a100,cpu=8,memory=64Gi,label=zone=z1,taint=t=v:NoSchedule"
    )
    nodes = node_trees(order)

    assert len(nodes) == 3
    assert nodes[0]["status"]["allocatable"]["cpu"] == "8"
    assert nodes[0]["spec"]["taints"] == [{"key": "t", "value": "v", "effect": "NoSchedule"}]
    (pool,) = parse_pools(pool_config_map(order)).values()
    assert (pool.gpu_product, pool.gpu_count, pool.gpu_memory) == (
        "NVIDIA A100-SXM4-80GB",
        4,
        81920,
    )


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("h100:100x8", ("h100", 100, 8, "NVIDIA-H100-80GB-HBM3")),
        ("t4:2", ("t4", 2, 4, "Tesla-T4")),
        ("t4:3x2,label=zone=z1", ("t4", 3, 2, "Tesla-T4")),
        ("batch:3x1,product=l4", ("batch", 3, 1, "l4")),
        ("pool=batch", ("batch", 1, 8, "NVIDIA-H100-80GB-HBM3")),
    ],
)
def test_an_order_can_be_short(text: str, want: tuple[str, int, int, str]) -> None:
    order = parse_order(text)

    assert (order.name, order.count, order.gpus, order.product) == want


@pytest.mark.parametrize(
    "text",
    [
        "",
        "h100:0x8",
        "h100:2x",
        "h100:4x8,a100:2x4",
        "h100:4x8,count=2",
        "pool=a,pool=b",
        "pool=a,label=x=1,label=x=2",
        "pool=a,label=kubernetes.io/hostname=other",
        "pool=a,cpu=1e-30",
        "pool=a,cpu=9999999999999999999Ei",
        "pool=a,memory=1e999",
        "H_100:1x8",
        "count=3",
        "pool=a,count=0",
        "pool=a,count=many",
        "pool=a,gpus=-1",
        "pool=A_b",
        "pool=a,product=Voodoo2",
        "pool=a,cpu=lots",
        "pool=a,memory=0",
        "pool=a,label==x",
        "pool=a,label=a b=c",
        "pool=a,taint=x",
        "pool=a,taint=x:Sometimes",
        "pool=a,colour=red",
        "pool",
    ],
)
def test_an_impossible_order_is_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_order(text)

    assert "\n" not in str(refusal.value)


def test_what_could_have_been_said_is_told() -> None:
    with pytest.raises(UsageError, match="each pool has an order of its own"):
        parse_order("h100:4x8,a100:2x4")
    with pytest.raises(UsageError, match="nor NAME:COUNTxGPUS"):
        parse_order("h100:-1x8")
    with pytest.raises(UsageError, match="one of NoSchedule, PreferNoSchedule, NoExecute"):
        parse_order("pool=a,taint=k:Never")
    with pytest.raises(UsageError, match=r"name one of .*h100, .*gpu-memory"):
        parse_order("pool=a,product=Voodoo2")


def test_an_unknown_product_is_fine_when_its_memory_is_given() -> None:
    assert check(PoolOrder(name="a", product="Voodoo2", memory_mib=12)).product == "Voodoo2"
