"""A scheduler on the real API core, in virtual time; nothing else moves."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import node_tree, pod_tree

from windtunnel.apiserver.core import Core
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.kernel import Loop, VirtualClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.tree import Key, Tree
from windtunnel.scheduler import Scheduler
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend


class Stage:
    """A cluster that only schedules, standing at 2027-01-15T08:00:00Z."""

    def __init__(self) -> None:
        self.clock = VirtualClock(1_800_000_000.0)
        self.loop = Loop(self.clock)
        store = Store(MemoryBackend(), self.clock)
        core = Core(store, Catalogue(builtin_kinds()), self.clock, signer=None, tokens={})
        self.client = LocalClient(core, "tests", "tests")
        account = {"metadata": {"name": "default", "namespace": "default"}}
        self.client.create("serviceaccounts", account)
        own = LocalClient(core, "system:kube-scheduler", "kube-scheduler")
        self.scheduler = Scheduler(own, self.loop, host="here")

    def start(self) -> None:
        self.scheduler.start()
        self.run(0.1)

    def run(self, seconds: float = 0.1) -> None:
        self.loop.run_virtual(self.clock.now() + seconds)
        self.scheduler.engine.fleet.check()

    def node(self, name: str, **kept: Any) -> None:
        """Add a node that is ready: without the taint that admission puts on every new one."""
        tree = self.client.create("nodes", node_tree(name, **kept))
        tree["spec"]["taints"] = kept.get("taints", [])
        self.client.update("nodes", tree)

    def pod(self, name: str, **kept: Any) -> Tree:
        tree = pod_tree(name, **kept)
        del tree["metadata"]["uid"], tree["spec"]["priority"]
        container = tree["spec"]["containers"][0]
        container |= {"image": "x", "resources": {"limits": container["resources"]["requests"]}}
        return self.client.create("pods", tree)

    def get(self, name: str) -> Tree:
        tree = self.client.get("pods", Key("default", name))
        assert tree is not None
        return tree

    def events(self) -> list[Tree]:
        events = self.client.list("events.events.k8s.io")
        return sorted(events, key=lambda event: str(event["metadata"]["name"]).rpartition(".")[2])

    def told(self) -> list[tuple[str, str]]:
        return [(event["reason"], event["regarding"]["name"]) for event in self.events()]


@pytest.fixture
def stage() -> Stage:
    return Stage()
