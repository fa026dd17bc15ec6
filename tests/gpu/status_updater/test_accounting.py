"""Tests of the account of one node's GPUs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.devices.cut import cut_node, slicing

from windtunnel.devices import AllocatedBy, GpuStatus, NodeTopology, TopologyGpu
from windtunnel.gpu.status_updater.accounting import Account, account
from windtunnel.gpu.status_updater.claimant import Claimant
from windtunnel.machinery.tree import Key

RESERVED = "runai-reservation"


def node(*owners: str, faults: Sequence[int] = ()) -> NodeTopology:
    """GPUs a, b, c, … with owners written as ``pod/container``, "" for free ones."""
    gpus = []
    for number, owner in enumerate(owners):
        pod, _, container = owner.partition("/")
        by = AllocatedBy("ml", pod, container) if owner else AllocatedBy()
        fault = "lost" if number in faults else ""
        gpus.append(TopologyGpu(chr(ord("a") + number), GpuStatus(by), fault))
    return NodeTopology(gpu_memory=1000, gpus=tuple(gpus))


def pod(name: str, *wants: tuple[str, int], namespace: str = "ml", **more: object) -> Claimant:
    fields = {"key": Key(namespace, name), "uid": f"uid-{name}", "node": "n", "wants": wants}
    return Claimant(**(fields | more))  # type: ignore[arg-type]


def taken(
    topology: NodeTopology, *pods: Claimant, claims: dict[str, list[str]] | None = None
) -> Account:
    def devices(one: Claimant) -> list[str]:
        found = (claims or {}).get(one.claims[0])
        if found is None:
            raise ValueError("no such claim")
        return found

    return account(topology, pods, RESERVED, devices, lambda one: one.workload)


def owners(found: Account) -> list[str]:
    by = [gpu.status.allocated_by for gpu in found.topology.gpus]
    return [f"{one.pod}/{one.container}" if one.pod else "" for one in by]


def usage(found: Account) -> list[list[str]]:
    return [sorted(gpu.status.pod_gpu_usage_status) for gpu in found.topology.gpus]


CASES = {
    "a pod takes the first free GPUs": (
        taken(node("", "", ""), pod("p", ("m", 2))),
        ["p/m", "p/m", ""],
    ),
    "every container has its own": (
        taken(node("", "", ""), pod("p", ("a", 1), ("b", 2))),
        ["p/a", "p/b", "p/b"],
    ),
    "a GPU stays with its pod": (
        taken(node("", "p/m", ""), pod("q", ("m", 1)), pod("p", ("m", 1))),
        ["q/m", "p/m", ""],
    ),
    "a GPU of a pod that is gone is free again": (
        taken(node("gone/m", ""), pod("p", ("m", 1))),
        ["p/m", ""],
    ),
    "a GPU too many is given back": (
        taken(node("p/m", "p/m", "p/m"), pod("p", ("m", 1))),
        ["p/m", "", ""],
    ),
    "too few GPUs are all given": (
        taken(node("", ""), pod("p", ("m", 3)), pod("q", ("m", 1))),
        ["p/m", "p/m"],
    ),
    "a lost GPU is not given": (
        taken(node("", "", faults=[0]), pod("p", ("m", 1))),
        ["", "p/m"],
    ),
    "a claim names its GPU": (
        taken(node("", "", ""), pod("p", claims=("c",), claim_container="m"), claims={"c": ["B"]}),
        ["", "p/m", ""],
    ),
    "a claimed GPU is not given to others": (
        taken(
            node("", ""),
            pod("q", ("m", 1)),
            pod("p", claims=("c",), claim_container="m"),
            claims={"c": ["a"]},
        ),
        ["p/m", "q/m"],
    ),
    "a shared claim stays with the pod that is left": (
        taken(node("a/m"), pod("b", claims=("c",), claim_container="m"), claims={"c": ["a"]}),
        ["b/m"],
    ),
    "the kubelet says which GPU it gave": (
        taken(node("p/m", "", ""), pod("p", ("m", 1), given=(("m", "b"),)), pod("q", ("m", 1))),
        ["q/m", "p/m", ""],
    ),
    "a kubelet that names strange devices says nothing": (
        taken(node("", ""), pod("p", ("m", 1), given=(("m", "zz"),))),
        ["p/m", ""],
    ),
    "no pods, no owners": (taken(node("p/m", "q/m")), ["", ""]),
}


@pytest.mark.parametrize(("found", "want"), CASES.values(), ids=CASES)
def test_owners(found: Account, want: list[str]) -> None:
    assert owners(found) == want


def test_a_shortage_is_said_of_the_pod_that_has_it() -> None:
    found = taken(node("", ""), pod("p", ("m", 1)), pod("q", ("m", 3)))

    (flaw,) = found.flaws
    assert (flaw.pod.name, flaw.reason) == ("q", "InsufficientGPUs")
    assert flaw.message.startswith("1 of 3 GPUs could be given on node n, which has 2")


def test_both_pods_of_a_shared_claim_load_its_gpu() -> None:
    pods = [pod(name, claims=("c",), claim_container="m") for name in ("a", "b")]

    found = taken(node(""), *pods, claims={"c": ["a"]})

    assert owners(found) == ["a/m"]
    assert usage(found) == [["uid-a", "uid-b"]]


@pytest.mark.parametrize(
    ("claims", "reason"), [({}, "ClaimNotReady"), ({"c": ["zz"]}, "UnknownDevice")]
)
def test_a_claim_that_leads_nowhere_is_said(claims: dict[str, list[str]], reason: str) -> None:
    found = taken(node(""), pod("p", claims=("c",), claim_container="m"), claims=claims)

    assert [flaw.reason for flaw in found.flaws] == [reason]
    assert owners(found) == [""]


def test_a_shared_gpu_is_loaded_by_those_who_share_not_by_who_holds_it() -> None:
    holder = pod("r", ("m", 1), namespace=RESERVED, group="g")
    sharer = pod("s", shared=True, group="g", share="0.5")

    found = taken(node("", ""), holder, sharer)

    assert owners(found) == ["r/m", ""]
    assert usage(found) == [["uid-s"], []]
    assert found.topology.gpus[0].status.pod_gpu_usage_status["uid-s"].fb_used == 500
    assert found.reservations == ((Key(RESERVED, "r"), "a"),)


def test_a_reservation_by_index_goes_before_the_group() -> None:
    by_group = pod("g", ("m", 1), namespace=RESERVED, group="g", reserved="a")
    by_index = pod("i", ("m", 1), namespace=RESERVED, reserved="1")
    sharer = pod("s", shared=True, group="g", shared_index="1")

    found = taken(node("", ""), by_group, by_index, sharer)

    assert usage(found) == [[], ["uid-s"]]
    assert found.reservations == ()


def test_a_shared_pod_without_a_reservation_is_told_of() -> None:
    found = taken(node(""), pod("s", shared=True, group="g"))

    (flaw,) = found.flaws
    assert flaw.message == "no reservation pod found for gpu group g on node n"
    assert not found.accounted


pods = st.lists(
    st.builds(
        lambda name, counts: pod(name, *((f"c{n}", count) for n, count in enumerate(counts))),
        st.sampled_from("pqrst"),
        st.lists(st.integers(1, 3), min_size=1, max_size=2),
    ),
    max_size=5,
    unique_by=lambda one: one.key,
)


@given(pods=pods, count=st.integers(0, 8), data=st.data())
def test_an_account_of_an_account_is_the_same(
    pods: list[Claimant], count: int, data: st.DataObject
) -> None:
    once = taken(node(*[""] * count), *pods)
    again = taken(once.topology, *data.draw(st.permutations(pods)))

    held = sum(bool(owner) for owner in owners(once))
    wanted = sum(n for one in pods for _, n in one.wants)
    assert held == min(count, wanted)
    if held == wanted:
        assert owners(again) == owners(once)


def cut_owners(found: Account) -> list[list[str]]:
    """Who has each slice, GPU by GPU; a whole GPU is a list of one."""
    return [
        [one.status.allocated_by.pod for one in gpu.mig or ()]
        if gpu.mig is not None
        else [gpu.status.allocated_by.pod]
        for gpu in found.topology.gpus
    ]


def test_slices_are_given_by_their_own_name() -> None:
    node = cut_node({"2g.20gb": 2}, None)
    two = "nvidia.com/mig-2g.20gb"
    pods = (pod("p", parts=((two, "m", 1),)), pod("q", ("m", 1)), pod("r", parts=((two, "m", 1),)))

    found = taken(node, *pods)

    assert cut_owners(found) == [["p", "r"], ["q"]]
    slices = found.topology.gpus[0].mig or ()
    assert [one.status.pod_gpu_usage_status["uid-p"].fb_used for one in slices[:1]] == [19968]
    assert found.topology.gpus[0].status == GpuStatus()
    assert cut_owners(taken(found.topology, pods[2])) == [["", "r"], [""]]


def test_the_kubelet_says_which_slice_it_gave() -> None:
    node = cut_node({"2g.20gb": 2})
    second = (node.gpus[0].mig or ())[1].id

    found = taken(
        node, pod("p", parts=(("nvidia.com/mig-2g.20gb", "m", 1),), given=(("m", second),))
    )

    assert cut_owners(found) == [["", "p"]]


def test_what_nobody_offers_is_no_shortage_but_a_slice_too_many_is() -> None:
    node = cut_node({"2g.20gb": 1})
    others = pod("p", parts=(("nvidia.com/mig-1g.5gb", "m", 1),))
    greedy = pod("q", parts=(("nvidia.com/mig-2g.20gb", "m", 2),))

    assert (taken(node, others).flaws, taken(node, others).accounted) == ((), False)
    (flaw,) = taken(node, greedy).flaws
    assert flaw.message.startswith("1 of 2 nvidia.com/mig-2g.20gb could be given on node n, which")


def test_a_shared_gpu_has_several_pods_and_keeps_them() -> None:
    node = cut_node(None, None, sharing=slicing(2))
    pods = [pod(name, ("m", 1)) for name in "abcd"]

    found = taken(node, *pods)

    assert usage(found) == [["uid-a", "uid-c"], ["uid-b", "uid-d"]]
    assert found.flaws == ()
    assert usage(taken(found.topology, *reversed(pods[1:]))) == [["uid-c"], ["uid-b", "uid-d"]]
    loads = found.topology.gpus[0].status.pod_gpu_usage_status.values()
    assert sum(load.fb_used for load in loads) == 81920


def test_the_kubelet_names_shares_by_their_gpu() -> None:
    node = cut_node(None, None, sharing=slicing(2))
    second = f"{node.gpus[1].id}::1"

    found = taken(node, pod("p", ("m", 1), given=(("m", second),)))

    assert usage(found) == [[], ["uid-p"]]
