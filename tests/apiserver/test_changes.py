from __future__ import annotations

from tests.apiserver.api import Api
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.client import Change


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
