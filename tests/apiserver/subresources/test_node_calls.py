"""Calls to a pod's node: what is refused here, and what goes on to the kubelet."""

from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import Api, obj

from windtunnel.apiserver.request import Relay

UPGRADE = {"connection": "Upgrade", "upgrade": "websocket"}


def node(**status: Any) -> dict[str, Any]:
    return obj("v1", "Node", "n1", status=status)


def reachable(**status: Any) -> dict[str, Any]:
    return node(
        addresses=[
            {"type": "Hostname", "address": "n1"},
            {"type": "InternalIP", "address": "9.8.7.6"},
        ],
        daemonEndpoints={"kubeletEndpoint": {"Port": 1234}},
        declaredFeatures=["ExtendWebSocketsToKubelet"],
        **status,
    )


def relayed(api: Api, path: str, method: str = "GET", **headers: str) -> Relay:
    outcome = api.request(method, path, headers=headers)
    assert isinstance(outcome, Relay), outcome
    return outcome


REFUSED = {
    "an unknown container": ("log?container=zz", 400, "container zz is not valid for pod p"),
    "one of the two streams": ("log?stream=Stderr", 422, "stream: Forbidden: may not be specified"),
    "a negative count": ("log?tailLines=-1", 422, "must be greater than or equal to 0"),
    "two times": (
        "log?sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z", 422,
        "at most one of `sinceTime` or `sinceSeconds`",
    ),
    "no node yet": ("exec?command=ls", 400, "pod p does not have a host assigned"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_can_be_said_without_the_node(
    api: Api, ns: str, call: str, code: int, words: str
) -> None:
    api.pod(ns)

    found, text = api.refused("GET", f"{ns}/pods/p/{call}")

    assert (found, words in text) == (code, True)


def test_a_pod_without_node_has_an_empty_log(api: Api, ns: str) -> None:
    api.pod(ns)

    answer = api.answer("GET", f"{ns}/pods/p/log")
    assert (answer.status, answer.body) == (204, b"")


def test_a_missing_node_is_not_found_and_a_played_one_says_so(api: Api, ns: str) -> None:
    api.pod(ns, nodeName="n1")
    assert api.refused("GET", f"{ns}/pods/p/log") == (404, 'pods "n1" not found')

    played = node()
    played["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "fake"}
    api.post("/api/v1/nodes", played)
    code, text = api.refused("GET", f"{ns}/pods/p/log")
    assert code == 503
    assert "its pods are played, so there is nothing to read" in text


def test_a_node_without_address_cannot_be_reached(api: Api, ns: str) -> None:
    api.pod(ns, nodeName="n1")
    api.post("/api/v1/nodes", node(addresses=[{"type": "InternalDNS", "address": "x"}]))

    code, text = api.refused("GET", f"{ns}/pods/p/log")

    assert (code, text) == (500, "no preferred addresses found; known addresses: [{InternalDNS x}]")


@pytest.mark.parametrize("call", ["log", "exec", "attach"])
def test_one_of_several_containers_must_be_named(api: Api, ns: str, call: str) -> None:
    api.pod(
        ns,
        containers=[{"name": "a", "image": "x"}, {"name": "b", "image": "x"}],
        initContainers=[{"name": "i", "image": "x"}],
    )

    code, text = api.refused("GET", f"{ns}/pods/p/{call}")
    assert code == 400
    assert "choose one of: [a b] or one of the init containers: [i]" in text


RELAYED = {
    "a log": (
        "log?follow=true&tailLines=3&timeout=3s",
        "/containerLogs/ns/p/c?follow=true&tailLines=3",
    ),
    "a program": (
        "exec?command=echo&command=a%20b&container=c&stdin=true&tty=true&stderr=false",
        "/exec/ns/p/c?input=1&output=1&tty=1&command=echo&command=a+b",
    ),
    "what runs": ("attach?container=c", "/attach/ns/p/c?output=1&error=1"),
    "ports": ("portforward?ports=80&ports=81", "/portForward/ns/p?port=80&port=81"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "target"), RELAYED.values(), ids=RELAYED)
def test_the_kubelet_is_asked_in_its_own_words(api: Api, ns: str, call: str, target: str) -> None:
    api.post("/api/v1/nodes", reachable())
    api.pod(ns, nodeName="n1")

    relay = relayed(api, f"{ns}/pods/p/{call}", **UPGRADE)

    assert (str(relay.destination), relay.destination.secure) == ("9.8.7.6:1234", True)
    assert relay.target == target
    assert relay.upgrade == (not call.startswith("log"))


def test_what_is_no_upgrade_is_refused(api: Api, ns: str) -> None:
    api.post("/api/v1/nodes", reachable())
    api.pod(ns, nodeName="n1")

    assert api.refused("GET", f"{ns}/pods/p/exec?command=ls") == (400, "Upgrade request required")


def test_an_older_kubelet_is_spoken_to_in_the_older_way(api: Api, ns: str) -> None:
    older = reachable()
    older["status"]["declaredFeatures"] = []
    api.post("/api/v1/nodes", older)
    api.pod(ns, nodeName="n1")
    path = f"{ns}/pods/p/exec?command=ls"

    refused = api.answer(
        "GET", path, headers={**UPGRADE, "sec-websocket-protocol": "v5.channel.k8s.io"}
    )
    assert (refused.status, b"does not declare" in refused.body) == (400, True)

    relayed(api, path, **UPGRADE, **{"sec-websocket-protocol": "v4.channel.k8s.io"})
    relayed(api, path, "POST", connection="Upgrade", upgrade="SPDY/3.1")


def test_a_websocket_is_no_way_around_the_right_to_create(api: Api, ns: str) -> None:
    api.post("/api/v1/nodes", reachable())
    api.pod(ns, nodeName="n1")
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/ns"
    rules = [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}]
    role = obj("rbac.authorization.k8s.io/v1", "Role", "r", rules=rules)
    api.post(f"{rbac}/roles", role)
    subject = {"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    api.post(
        f"{rbac}/rolebindings",
        obj("rbac.authorization.k8s.io/v1", "RoleBinding", "b", subjects=[subject], roleRef=ref),
    )

    code, text = api.refused("GET", f"{ns}/pods/p/exec?command=ls", user="alice", headers=UPGRADE)

    assert code == 403
    assert 'cannot create resource "pods/exec"' in text


LOG_REFUSALS = {
    "what the kubelet says": (400, "waiting", 400, "waiting"),
    "its failures": (500, "x", 500, "Internal error occurred: x"),
    "what it does not know": (
        404, "x", 404, "the server could not find the requested resource ( pods/log p)",
    ),
    "anything else": (403, "no\n", 500, "the kubelet answered 403: no"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "said", "code", "text"), LOG_REFUSALS.values(), ids=LOG_REFUSALS
)
def test_refusals_of_logs(api: Api, ns: str, status: int, said: str, code: int, text: str) -> None:
    api.post("/api/v1/nodes", reachable())
    api.pod(ns, nodeName="n1")
    relay = relayed(api, f"{ns}/pods/p/log")
    assert relay.refused is not None

    refusal = relay.refused(status, said)

    assert (refusal.code, refusal.message) == (code, text)
