from __future__ import annotations

from tests.apiserver.api import Api
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.assembly.virtual import Virtual
from windtunnel.client import Change
from windtunnel.machinery.tree import Key, Tree, decode, encode
from windtunnel.nodes import PoolOrder


def test_all_who_watch_a_kind_get_the_same_change(api: Api, ns: str) -> None:
    client = LocalClient(api.core, "system:part", "part")
    seen: list[list[Change]] = [[], []]
    for each in seen:
        client.watch("configmaps", each.append)

    client.create("configmaps", {"metadata": {"name": "m", "namespace": "ns"}})

    assert seen[0][-1] is seen[1][-1]
    assert (seen[0][-1].type, seen[0][-1].tree()["metadata"]["name"]) == ("ADDED", "m")


def test_each_kind_that_shares_a_store_sees_its_own_form(api: Api, ns: str) -> None:
    client = LocalClient(api.core, "system:part", "part")
    core: list[Change] = []
    group: list[Change] = []
    client.watch("events", core.append)
    client.watch("events.events.k8s.io", group.append)

    event = {"metadata": {"name": "e", "namespace": "ns"}, "note": "said", "type": "Normal"}
    client.create("events.events.k8s.io", event)

    assert core[-1].tree()["message"] == group[-1].tree()["note"] == "said"


def test_what_the_writer_has_at_hand_is_what_is_written() -> None:
    told: list[tuple[bytes, Tree | None]] = []

    def tell(change: Change) -> None:
        told.append((change.body, decode(encode(change.at_hand))))

    virtual = Virtual(pools=[PoolOrder(name="h100", count=2, gpus=8)])
    client = virtual.client("user")
    for resource in ("nodes", "pods", "events", "events.events.k8s.io"):
        client.watch(resource, tell)
    told.clear()
    client.create("pods", {"metadata": {"name": "p", "namespace": "default"}, "spec": SPEC})
    virtual.run(20)
    client.delete("pods", Key("default", "p"))
    virtual.run(60)

    at_hand = [(decode(body), tree) for body, tree in told if tree is not None]
    assert len(at_hand) > 10
    assert [tree for _, tree in at_hand] == [tree for tree, _ in at_hand]


SPEC: Tree = {"containers": [{"name": "c", "image": "x"}]}
