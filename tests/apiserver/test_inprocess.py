from __future__ import annotations

import pytest

from tests.apiserver.api import Api, obj
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.client import Change, Write
from windtunnel.kernel import Parked
from windtunnel.machinery.admission import Ask, Reply
from windtunnel.machinery.errors import AlreadyExists, Conflict, NotFound
from windtunnel.machinery.tree import Key, decode, encode

KEY = Key("ns", "m")


@pytest.fixture
def client(api: Api, ns: str) -> LocalClient:
    return LocalClient(api.core, "system:part", "part")


def cm(**fields: object) -> dict[str, object]:
    return {"metadata": {"name": "m", "namespace": "ns"}, **fields}


def test_an_object_lives(client: LocalClient) -> None:
    made = client.create("configmaps", cm(data={"a": "1"}))
    assert made["metadata"]["managedFields"][0]["manager"] == "part"

    assert client.patch("configmaps", KEY, {"data": {"b": "2"}})["data"] == {"a": "1", "b": "2"}
    made = client.get("configmaps", KEY) or {}
    made["data"] = {"c": "3"}
    assert client.update("configmaps", made)["data"] == {"c": "3"}
    assert [each["data"] for each in client.list("configmaps", "ns")] == [{"c": "3"}]
    client.delete("configmaps", KEY)
    assert client.get("configmaps", KEY) is None


def test_refusals_are_errors(client: LocalClient) -> None:
    client.create("configmaps", cm())

    with pytest.raises(AlreadyExists):
        client.create("configmaps", cm())
    with pytest.raises(NotFound):
        client.delete("configmaps", Key("ns", "x"))
    with pytest.raises(NotFound):
        client.list("nopes")
    with pytest.raises(Conflict):
        client.delete("configmaps", KEY, uid="other")
    with pytest.raises(Conflict):
        client.patch("configmaps", KEY, {"metadata": {"uid": "other"}})


def test_what_it_writes_is_defaulted_and_admitted(api: Api, client: LocalClient) -> None:
    pod = obj("v1", "Pod", "p", metadata={"namespace": "ns"},
              spec={"containers": [{"name": "c", "image": "x"}]})  # fmt: skip

    made = client.create("pods", pod)

    assert made["spec"]["serviceAccountName"] == "default"
    assert made["status"]["phase"] == "Pending"
    assert made == api.get("/api/v1/namespaces/ns/pods/p")


def test_bind_status_evict(client: LocalClient) -> None:
    spec = {"containers": [{"name": "c", "image": "x"}]}
    client.create("pods", {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec})
    key = Key("ns", "p")

    client.bind(key, "n1")
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}}
    pod = client.patch("pods", key, ready, subresource="status", strategic=True)
    assert [each["type"] for each in pod["status"]["conditions"]] == ["Ready", "PodScheduled"]
    pod["status"]["podIP"] = "10.0.0.1"
    assert client.update_status("pods", pod)["status"]["podIPs"] == [{"ip": "10.0.0.1"}]
    client.evict(key)
    left = client.get("pods", key) or {}
    assert left["metadata"]["deletionGracePeriodSeconds"] == 30
    client.delete("pods", key, grace_seconds=0)
    assert client.get("pods", key) is None


def test_an_apply_creates_and_changes(client: LocalClient) -> None:
    client.apply("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", **cm(data={"a": "1"})})
    made = client.apply(
        "configmaps", {"apiVersion": "v1", "kind": "ConfigMap", **cm(data={"b": "2"})}
    )

    assert made["data"] == {"b": "2"}


def test_a_watch_sees_what_is_and_what_comes(api: Api, client: LocalClient) -> None:
    client.create("configmaps", cm())
    seen: list[Change] = []
    stop = client.watch("configmaps", seen.append, namespace="ns")

    client.patch("configmaps", KEY, {"data": {"a": "1"}})
    client.delete("configmaps", KEY)
    stop()
    client.create("configmaps", cm())

    assert [change.type for change in seen] == ["ADDED", "SYNCED", "MODIFIED", "DELETED"]
    assert seen[2].tree()["data"] == {"a": "1"}
    assert seen[3].revision == int(seen[3].tree()["metadata"]["resourceVersion"])


def test_a_watch_with_a_selector_sees_objects_enter_and_leave(client: LocalClient) -> None:
    seen: list[Change] = []
    client.watch("pods", seen.append, field_selector="spec.nodeName=n1")
    spec = {"containers": [{"name": "c", "image": "x"}]}
    client.create("pods", {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec})
    client.bind(Key("ns", "p"), "n1")
    client.delete("pods", Key("ns", "p"), grace_seconds=0)

    assert [change.type for change in seen] == ["SYNCED", "ADDED", "MODIFIED", "DELETED"]


def test_one_bad_write_of_many_does_not_stop_the_rest(client: LocalClient) -> None:
    outcomes = client.write_many(
        [
            Write("create", "configmaps", KEY, cm()),
            Write("create", "configmaps", KEY, cm()),
            Write("patch", "configmaps", KEY, {"data": {"a": "1"}}),
            Write("delete", "configmaps", KEY, {}),
        ]
    )

    assert [type(each) for each in outcomes] == [type(None), AlreadyExists, type(None), type(None)]


WEBHOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "w"},
    "webhooks": [
        {
            "name": "a.b.c",
            "clientConfig": {"url": "https://x/y"},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "rules": [
                {
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ],
        }
    ],
}  # fmt: skip


def test_a_write_that_must_ask_is_parked_and_goes_on(api: Api, ns: str) -> None:
    api.post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", WEBHOOK)
    asks: list[tuple[Ask, object]] = []
    client = LocalClient(api.core, "u", "m", asks=lambda ask, done: asks.append((ask, done)))

    with pytest.raises(Parked) as parked:
        client.create("configmaps", cm())
    woken: list[bool] = []
    parked.value.resume(lambda: woken.append(True))
    ask, done = asks.pop()
    uid = decode(ask.body)["request"]["uid"]
    done(Reply(body=encode({"response": {"uid": uid, "allowed": True}})))  # type: ignore[operator]

    assert woken == [True]
    made = client.create("configmaps", cm())
    assert (made["metadata"]["name"], asks) == ("m", [])
    assert asks == []


def test_where_nobody_can_be_asked_the_failure_policy_decides(
    api: Api, client: LocalClient
) -> None:
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    ignoring = {**WEBHOOK, "webhooks": [{**WEBHOOK["webhooks"][0], "failurePolicy": "Ignore"}]}  # type: ignore[index,dict-item]
    api.post(path, ignoring)

    assert client.create("configmaps", cm())["metadata"]["name"] == "m"
