"""A cluster in virtual time for tests of controllers: no scheduler, and words for what matters."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from windtunnel import controllers
from windtunnel.assembly.parts import PartSettings
from windtunnel.assembly.virtual import Virtual
from windtunnel.machinery.tree import Key, Tree


class World:
    """Everything a test of controllers needs, standing at 2027-01-15T08:00:00Z."""

    def __init__(self, settings: controllers.Settings | None = None) -> None:
        chosen = PartSettings(
            without=frozenset({"scheduler"}),
            controllers=settings or controllers.Settings(root_ca="the certificate"),
        )
        self.virtual = Virtual(settings=chosen)
        self.clock, self.loop = self.virtual.clock, self.virtual.loop
        self.core, self.failures = self.virtual.core, self.virtual.failures
        assert self.virtual.parts.controllers is not None
        self.controllers = self.virtual.parts.controllers
        assert self.virtual.parts.nodes is not None
        self.nodes = self.virtual.parts.nodes
        self.client = self.virtual.client("tests")
        self.run(0.1)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.virtual.run(seconds)

    def create(self, resource: str, name: str, namespace: str = "default", **fields: Any) -> Tree:
        fields = deepcopy(fields)  # the API uses up what it is given
        metadata = {"name": name, **fields.pop("metadata", {})}
        if namespace:
            metadata["namespace"] = namespace
        return self.client.create(resource, {"metadata": metadata, **fields})

    def get(self, resource: str, name: str, namespace: str = "default") -> Tree:
        tree = self.client.get(resource, Key(namespace, name))
        assert tree is not None, f"no {resource} {name}"
        return tree

    def names(self, resource: str, namespace: str = "default") -> list[str]:
        return [tree["metadata"]["name"] for tree in self.client.list(resource, namespace)]

    def node(self, name: str, **metadata: Any) -> None:
        """Add a played node and wait until it is ready."""
        notes = {"kwok.x-k8s.io/node": "fake"}
        self.create("nodes", name, "", metadata={"annotations": notes, **metadata})
        self.run(0.1)

    def bind(self, node: str, namespace: str = "default") -> None:
        """Put every waiting pod on a node, as a scheduler would."""
        for pod in self.client.list("pods", namespace):
            if not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
                self.client.bind(Key(namespace, pod["metadata"]["name"]), node)
        self.run(0.1)

    def status(self, name: str, status: Tree, namespace: str = "default") -> None:
        """Write a pod's status, as a kubelet would."""
        key = Key(namespace, name)
        self.client.patch("pods", key, {"status": status}, subresource="status", strategic=True)

    def events(self) -> list[tuple[str, str]]:
        """(reason, message) of all events, the first ones first."""
        events = self.client.list("events")
        events.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
        return [(event["reason"], event["message"]) for event in events]
