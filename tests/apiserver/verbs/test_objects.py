from __future__ import annotations

import pytest
from tests.apiserver.api import Api, config

from windtunnel.apiserver.verbs.objects import shaped
from windtunnel.machinery.errors import ApiError, Conflict
from windtunnel.machinery.tree import Key, Tree


def test_an_object_starts_with_its_kind_and_metadata() -> None:
    tree = {"spec": {}, "metadata": {"uid": "u", "name": "n"}, "apiVersion": "v1", "kind": "Pod"}

    made = shaped(tree)

    assert list(made) == ["kind", "apiVersion", "metadata", "spec"]
    assert list(made["metadata"]) == ["name", "uid"]


def test_events_of_two_groups_share_a_store(api: Api, ns: str) -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "p"},
        "reason": "R", "type": "Normal", "message": "m",
    }  # fmt: skip
    api.post(f"{ns}/events", event)

    path = f"/apis/events.k8s.io/v1{ns.removeprefix('/api/v1')}/events"
    read = api.get(f"{path}/e")
    assert (read["regarding"]["name"], read["note"]) == ("p", "m")
    assert len(api.get(f"{path}?fieldSelector=regarding.name=p")["items"]) == 1
    assert len(api.get(f"{ns}/events?fieldSelector=involvedObject.name=p")["items"]) == 1


def test_a_lost_race_is_a_conflict(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))
    objects, kind = api.core.objects, api.core.catalogue.by_resource("configmaps")
    version = objects.find(kind, Key("ns", "m"))
    assert version is not None
    api.patch(f"{ns}/configmaps/m", {"data": {"a": "1"}})

    with pytest.raises(Conflict):
        objects.put(kind, version.key, version.tree(), version.revision)
    with pytest.raises(Conflict):
        objects.remove(kind, version)


def test_an_object_that_etcd_would_not_take_is_refused(api: Api, ns: str) -> None:
    objects, kind = api.core.objects, api.core.catalogue.by_resource("events")
    tree = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"uid": "u", "name": "e"},
        "message": "x" * 1_600_000,
    }

    with pytest.raises(ApiError, match="etcdserver: request is too large"):
        objects.put(kind, Key("ns", "e"), tree, 0)
    assert objects.find(kind, Key("ns", "e")) is None


HEADS = {
    "another version": {"apiVersion": "x"},
    "another kind": {"kind": "Pod"},
    "another name": {"metadata": {"uid": "u", "name": "other"}},
    "no uid": {"metadata": {"uid": None, "name": "e"}},
}


@pytest.mark.parametrize("wrong", HEADS.values(), ids=HEADS)
def test_nothing_is_stored_under_a_head_that_it_does_not_bear(api: Api, wrong: Tree) -> None:
    objects, kind = api.core.objects, api.core.catalogue.by_resource("configmaps")
    tree = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"uid": "u", "name": "e"}}

    with pytest.raises(ApiError, match="configmaps ns/e was not stored"):
        objects.put(kind, Key("ns", "e"), {**tree, **wrong}, 0)
    assert objects.find(kind, Key("ns", "e")) is None
