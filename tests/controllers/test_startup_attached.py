"""The same controllers on any API server: here over HTTP, on one that has none of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from windtunnel import controllers
from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient
from windtunnel.kernel import Loop, WallClock
from windtunnel.machinery.tree import Key

RunUntil = Callable[[Callable[[], bool]], None]


@pytest.fixture
def run_until(server: Connection) -> Iterator[RunUntil]:
    """Play controllers until something is so."""
    troubles: list[object] = []
    loop = Loop(WallClock(), lambda *trouble: troubles.append(trouble))
    woken = threading.Event()
    loop.wake = woken.set
    client = HttpClient(server, "kube-controller-manager", loop=loop)
    running = controllers.Controllers(client, loop)
    running.start()

    def run(holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < end, troubles
            loop.run_due(0.01)
            woken.wait(0.02)
            woken.clear()

    yield run
    running.stop()
    client.close()
    assert troubles == []


def test_replicas_are_kept_and_go_with_their_deployment(
    run_until: RunUntil, http_client: HttpClient, namespace: str
) -> None:
    labels = {"app": "attached"}
    containers = [{"name": "c", "image": "i"}]
    http_client.create(
        "deployments.apps",
        {
            "metadata": {"name": "d", "namespace": namespace},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
            },
        },
    )
    run_until(lambda: len(http_client.list("pods", namespace)) == 2)

    http_client.delete("deployments.apps", Key(namespace, "d"))
    run_until(lambda: not http_client.list("pods", namespace))


def test_what_a_definition_adds_is_known_at_once(
    run_until: RunUntil, http_client: HttpClient, namespace: str
) -> None:
    schema = {"openAPIV3Schema": {"type": "object"}}
    http_client.create(
        "customresourcedefinitions.apiextensions.k8s.io",
        {
            "metadata": {"name": "wings.attached.example.com"},
            "spec": {
                "group": "attached.example.com",
                "scope": "Namespaced",
                "names": {"plural": "wings", "singular": "wing", "kind": "Wing"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        },
    )
    owner = http_client.create("configmaps", {"metadata": {"name": "o", "namespace": namespace}})
    uid = owner["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": uid}
    made = {"name": "w", "namespace": namespace, "ownerReferences": [reference]}
    http_client.create(
        "wings.attached.example.com",
        {"apiVersion": "attached.example.com/v1", "kind": "Wing", "metadata": made},
    )

    http_client.delete("configmaps", Key(namespace, "o"))
    run_until(lambda: not http_client.list("wings.attached.example.com", namespace))
