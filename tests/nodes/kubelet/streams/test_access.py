"""Who may use the API: certificates, tokens, and rights that the API server knows of."""

from __future__ import annotations

import gc
import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.nodes.kubelet.streams.stand_in import StandIn

from windtunnel.home.certificates import Keyring, NodeKeys, provide, provide_node
from windtunnel.kernel import VirtualClock, WallClock
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import ServiceUnavailable
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.streams.access import Access, subresources_of, verb_of
from windtunnel.nodes.kubelet.streams.api import Credentials, KubeletApi

ALICE = User("alice", ("devs",), "u1", {"a": ("b",)})


class Reviewer:
    """An API server that knows one token and one right for each user."""

    def __init__(self) -> None:
        self.asked: list[Tree] = []
        self.down = False

    def create(self, resource: str, tree: Tree) -> Tree:
        self.asked.append(tree)
        if self.down:
            raise ServiceUnavailable("down")
        if resource.startswith("tokenreviews"):
            known = tree["spec"]["token"] == "good"
            user = {"username": "alice", "groups": ["devs"]} if known else {}
            return {"status": {"authenticated": known, "user": user}}
        wanted = tree["spec"]["resourceAttributes"]["subresource"]
        allowed = "system:masters" in tree["spec"]["groups"] or wanted == "metrics"
        return {"status": {"allowed": allowed}}


def access(reviewer: Reviewer, clock: VirtualClock) -> Access:
    client: Any = reviewer
    return Access(client, clock, "n1")


def test_answers_are_remembered_for_a_while() -> None:
    reviewer, clock = Reviewer(), VirtualClock(0.0)
    found = access(reviewer, clock)

    for _ in range(2):
        assert found.allows(ALICE, "get", ("metrics",))
        assert not found.allows(ALICE, "get", ("proxy",))
    assert len(reviewer.asked) == 2
    assert reviewer.asked[0]["spec"]["resourceAttributes"]["name"] == "n1"
    assert (reviewer.asked[0]["spec"]["uid"], reviewer.asked[0]["spec"]["extra"]) == (
        "u1", {"a": ["b"]},
    )  # fmt: skip

    clock.move_to(31.0)
    found.allows(ALICE, "get", ("metrics",))
    found.allows(ALICE, "get", ("proxy",))
    assert len(reviewer.asked) == 3


def test_a_wrong_token_is_nobody_s() -> None:
    found = access(Reviewer(), VirtualClock(0.0))

    assert found.bearer("bad") is None
    user = found.bearer("good")
    assert user is not None
    assert (user.name, user.groups) == ("alice", ("devs",))


RIGHTS = {
    "/exec/a/b/c": ("proxy",),
    "/metrics/cadvisor": ("metrics",),
    "/pods": ("pods", "proxy"),
    "/podsomething": ("proxy",),
}


@pytest.mark.parametrize(("path", "rights"), RIGHTS.items(), ids=RIGHTS)
def test_which_rights_open_a_path(path: str, rights: tuple[str, ...]) -> None:
    assert tuple(subresources_of(path)) == rights


def test_methods_are_verbs() -> None:
    assert [verb_of(method) for method in ("GET", "POST", "DELETE")] == ["get", "create", "delete"]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Keyring, NodeKeys]:
    now = WallClock().now()
    keyring = provide(tmp_path_factory.mktemp("keys"), now, "10.96.0.1")
    return keyring, provide_node(keyring, now, "n1")


@pytest.fixture
def served(tmp_path: Path, keys: tuple[Keyring, NodeKeys]) -> Iterator[tuple[int, Reviewer]]:
    reviewer = Reviewer()
    api = api_of(tmp_path, keys, reviewer)
    yield api.start("127.0.0.1"), reviewer
    api.stop()


def api_of(tmp_path: Path, keys: tuple[Keyring, NodeKeys], reviewer: Any) -> KubeletApi:
    keyring, node = keys
    runtime: Any = StandIn(tmp_path)
    return KubeletApi(
        runtime,
        lambda: runtime.pods,
        runtime.find,
        node="n1",
        review=reviewer,
        clock=VirtualClock(0.0),
        credentials=Credentials(node.serving, node.serving_key, keyring.authority),
    )


@contextmanager
def connected(api: KubeletApi, keyring: Keyring) -> Iterator[ssl.SSLSocket]:
    """Shake hands with the API; in the end see that nothing was left open."""
    trust = ssl.create_default_context(cafile=keyring.authority)
    with (
        socket.create_connection(("127.0.0.1", api.start("127.0.0.1")), timeout=10) as plain,
        trust.wrap_socket(plain, server_hostname="127.0.0.1") as client,
    ):
        yield client
    gc.collect()  # it would be warned of a connection that is left open


def test_stopping_closes_a_connection_that_the_client_keeps(
    tmp_path: Path, keys: tuple[Keyring, NodeKeys]
) -> None:
    api = api_of(tmp_path, keys, Reviewer())
    with connected(api, keys[0]) as client:
        client.sendall(b"GET /pods HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        while client.recv(1000):
            pass  # he has been told that it is closed, and says nothing himself

        api.stop()


def test_stopping_closes_a_connection_that_has_just_come(
    tmp_path: Path, keys: tuple[Keyring, NodeKeys]
) -> None:
    api = api_of(tmp_path, keys, Reviewer())
    with connected(api, keys[0]) as client:
        api.stop()

        with suppress(OSError):
            assert client.recv(1) == b""


def status(
    port: int, keyring: Keyring, path: str, *, token: str = "", certificate: str = ""
) -> int:
    trust = ssl.create_default_context(cafile=keyring.authority)
    if certificate:
        folder = keyring.folder
        trust.load_cert_chain(folder / f"{certificate}.crt", folder / f"{certificate}.key")
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=trust)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    code = connection.getresponse().status
    connection.close()
    return code


WHO = {
    "nobody": ({}, "/pods", 401),
    "a wrong token": ({"token": "bad"}, "/pods", 401),
    "a token without the right": ({"token": "good"}, "/pods", 403),
    "a token with the right": ({"token": "good"}, "/metrics", 200),
    "the API server": ({"certificate": "kubelet-client"}, "/pods", 200),
    "the node itself": ({"certificate": "node-n1"}, "/pods", 403),
}


@pytest.mark.parametrize(("who", "path", "code"), WHO.values(), ids=WHO)
def test_who_gets_in(
    served: tuple[int, Reviewer],
    keys: tuple[Keyring, NodeKeys],
    who: dict[str, str],
    path: str,
    code: int,
) -> None:
    assert status(served[0], keys[0], path, **who) == code


def test_without_the_api_server_nobody_new_gets_in(
    served: tuple[int, Reviewer], keys: tuple[Keyring, NodeKeys]
) -> None:
    port, reviewer = served
    reviewer.down = True

    assert status(port, keys[0], "/pods", certificate="kubelet-client") == 500
