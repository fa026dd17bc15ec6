"""The client says over HTTP what the protocol promises, and names what goes wrong."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Thread

import pytest

from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient
from windtunnel.client.protocol import Write
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop, WallClock
from windtunnel.machinery.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
)
from windtunnel.machinery.tree import Key, Tree


def config(namespace: str, name: str = "c", **data: str) -> Tree:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def pod(namespace: str, name: str = "p") -> Tree:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }


def test_an_object_is_created_read_updated_and_deleted(
    http_client: HttpClient, namespace: str
) -> None:
    key = Key(namespace, "c")
    assert http_client.get("configmaps", key) is None

    created = http_client.create("configmaps", config(namespace, a="1"))
    assert http_client.get("configmaps", key) == created

    created["data"]["a"] = "2"
    http_client.update("configmaps", created)
    http_client.patch("configmaps", key, {"data": {"b": "3"}})
    found = http_client.get("configmaps", key)
    assert found is not None
    assert found["data"] == {"a": "2", "b": "3"}

    http_client.delete("configmaps", key)
    assert http_client.get("configmaps", key) is None


def test_grouped_and_cluster_scoped_resources_are_found(
    http_client: HttpClient, namespace: str
) -> None:
    assert http_client.path("pods", Key(namespace, "p"), "log") == (
        f"/api/v1/namespaces/{namespace}/pods/p/log"
    )
    assert http_client.path("deployments.apps", Key(namespace, "")) == (
        f"/apis/apps/v1/namespaces/{namespace}/deployments"
    )
    assert http_client.path("nodes", Key("", "n")) == "/api/v1/nodes/n"
    assert http_client.path("horizontalpodautoscalers.autoscaling/v1", Key("", "")) == (
        "/apis/autoscaling/v1/horizontalpodautoscalers"
    )
    with pytest.raises(NotFound):
        http_client.path("unicorns", Key("", ""))


def test_a_long_list_comes_whole_and_in_order(http_client: HttpClient, namespace: str) -> None:
    names = [f"c{number:04}" for number in range(501)]
    outcomes = http_client.write_many(
        [Write("create", "configmaps", Key(namespace, n), config(namespace, n)) for n in names]
    )
    assert set(outcomes) == {None}

    listed = http_client.list("configmaps", namespace)

    assert [tree["metadata"]["name"] for tree in listed] == names


def test_selectors_select(http_client: HttpClient, namespace: str) -> None:
    for name in ("a", "b"):
        tree = pod(namespace, name)
        tree["metadata"]["labels"] = {"name": name}
        http_client.create("pods", tree)

    by_label = http_client.list("pods", namespace, label_selector="name in (a)")
    by_field = http_client.list("pods", namespace, field_selector="metadata.name!=a")

    assert [tree["metadata"]["name"] for tree in by_label + by_field] == ["a", "b"]


def test_refusals_are_the_errors_of_the_api(http_client: HttpClient, namespace: str) -> None:
    http_client.create("configmaps", config(namespace))

    with pytest.raises(AlreadyExists, match='configmaps "c" already exists'):
        http_client.create("configmaps", config(namespace))
    with pytest.raises(Forbidden):
        http_client.delete("namespaces", Key("", "kube-system"))
    with pytest.raises(NotFound):
        http_client.delete("configmaps", Key(namespace, "gone"))
    with pytest.raises(Conflict):
        http_client.delete("configmaps", Key(namespace, "c"), uid="another")
    with pytest.raises(Invalid) as refused:
        http_client.create("configmaps", config(namespace, name="Not a name"))
    assert refused.value.violations[0].field == "metadata.name"


def test_apply_owns_fields(http_client: HttpClient, namespace: str) -> None:
    http_client.apply("configmaps", config(namespace, a="1"), manager="one")

    with pytest.raises(Conflict):
        http_client.apply("configmaps", config(namespace, a="2"), manager="two")

    forced = http_client.apply("configmaps", config(namespace, a="2"), manager="two", force=True)
    assert forced["data"] == {"a": "2"}


def test_pods_are_bound_and_their_status_is_written(
    http_client: HttpClient, namespace: str
) -> None:
    key = Key(namespace, "p")
    created = http_client.create("pods", pod(namespace))

    http_client.bind(key, "node-1", uid=created["metadata"]["uid"])
    running = http_client.patch("pods", key, {"status": {"phase": "Running"}}, subresource="status")

    assert running["spec"]["nodeName"] == "node-1"
    assert running["status"]["phase"] == "Running"
    with pytest.raises(Conflict):
        http_client.bind(key, "node-2")


def test_of_many_writes_one_refusal_stops_no_other(http_client: HttpClient, namespace: str) -> None:
    first, missing, last = http_client.write_many(
        [
            Write("create", "configmaps", Key(namespace, "a"), config(namespace, "a")),
            Write("delete", "configmaps", Key(namespace, "gone"), {}),
            Write("create", "configmaps", Key(namespace, "b"), config(namespace, "b")),
        ]
    )

    assert first is None
    assert isinstance(missing, NotFound)
    assert last is None


def test_many_writes_in_no_order_have_their_outcomes_in_place(
    http_client: HttpClient, namespace: str
) -> None:
    names = [f"c{number}" for number in range(40)]
    http_client.create("configmaps", config(namespace, "c7"))
    writes = [
        Write("create", "configmaps", Key(namespace, name), config(namespace, name))
        for name in names
    ]

    outcomes = list(http_client.write_many(writes, in_order=False))

    assert isinstance(outcomes.pop(7), AlreadyExists)
    assert outcomes == [None] * 39
    found = {each["metadata"]["name"] for each in http_client.list("configmaps", namespace)}
    assert found >= set(names)


def test_a_watch_goes_below_the_path_that_the_server_has() -> None:
    asked: SimpleQueue[str] = SimpleQueue()

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.put(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}/behind"
        client = HttpClient(Connection(url), loop=Loop(WallClock()))
        client._places["configmaps"] = ("/api/v1", True)

        stop = client.watch("configmaps", lambda _: None)

        assert asked.get(timeout=10).startswith("/behind/api/v1/configmaps?")
        stop()
        server.shutdown()


@pytest.mark.parametrize("body", [b'{"kind": "List", "ite', b"[]", b"", b"{}"])
def test_an_answer_that_is_no_object_is_named(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    client = HttpClient(Connection("https://127.0.0.1:1", insecure=True))
    monkeypatch.setattr(client, "ask", lambda *_: (200, body))
    monkeypatch.setattr(client, "path", lambda *_, **__: "/api/v1/pods")

    with pytest.raises(ClusterError, match="answered GET /api/v1/pods with what is no object"):
        client.list("pods")
