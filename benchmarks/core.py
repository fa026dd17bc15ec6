"""What the writes of a pod's life cost in the API core: no HTTP, no disk, three watchers.

A pod is created as a client sends it, bound with its event as the scheduler does it, and started as
a played node does it; clients do the status patch and the event too. Each line is one write, on the
deciding thread.

    python benchmarks/core.py [--pods 2000] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import time
from collections import deque
from collections.abc import Callable
from statistics import quantiles
from typing import Any

from windtunnel.apiserver.core import Core
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.apiserver.request import Answer, Request
from windtunnel.client import Change, Write
from windtunnel.kernel import WallClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.admission import User
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend

BUDGETS = {
    "create a pod (HTTP core)": 300,
    "bind (local)": 60,
    "create its event (local)": 120,
    "update_status (local)": 120,
    "patch_status (local)": 120,
    "patch status (HTTP core)": 250,
    "create an event (HTTP core)": 200,
}
"""Microseconds on the two-core machine of 2026."""
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
USER = User("bench", ("system:masters", "system:authenticated"))
STAMP = "2026-11-29T20:00:00Z"


class Bench:
    """A core with one namespace, one node and three watchers of pods."""

    def __init__(self, pods: int) -> None:
        self.pods = pods
        self.prepared: deque[Write] = deque()
        self.core = Core(
            Store(MemoryBackend(), WallClock()), Catalogue(builtin_kinds()), WallClock()
        )
        self.scheduler = LocalClient(self.core, "system:kube-scheduler", "kube-scheduler")
        self.player = LocalClient(self.core, "system:kwok", "kwok")
        if self.scheduler.get("namespaces", Key("", "default")) is None:
            self.scheduler.create("namespaces", {"metadata": {"name": "default"}})
        self.scheduler.create(
            "serviceaccounts", {"metadata": {"name": "default", "namespace": "default"}}
        )
        node: Tree = {
            "metadata": {"name": "node-0", "labels": {"topology.kubernetes.io/zone": "a"}}
        }
        self.scheduler.create("nodes", node)
        self.bodies: dict[Key, bytes] = {}
        for resource in ("pods", "pods", "pods", "events"):
            self.scheduler.watch(resource, self._seen)

    def _seen(self, change: Change) -> None:
        self.bodies[change.key] = change.body

    def ask(self, method: str, path: str, body: Any, media: str = "application/json") -> None:
        headers = {"user-agent": "fill/1.0", "accept": "application/json"}
        raw = json.dumps(body).encode()
        request = Request(method, path, [], headers, raw, media, "application/json", user=USER)
        answer = self.core.handle(request)
        assert isinstance(answer, Answer), answer
        assert answer.status in (200, 201), answer.body

    def create(self, number: int) -> None:
        container = {
            "name": "main",
            "image": "example.com/work:1",
            "resources": {"limits": {"nvidia.com/gpu": "1"}},
        }
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"fill-{number}"},
            "spec": {"containers": [container]},
        }
        self.ask("POST", PODS, pod)

    def bind(self, number: int) -> None:
        name = f"fill-{number}"
        body = {"metadata": {"namespace": "default", "name": name}, "target": {"name": "node-0"}}
        self.done(self.scheduler, Write("bind", "pods", Key("default", name), body))

    def tell(self, number: int) -> None:
        event = _event(number, "local")
        key = Key("default", event["metadata"]["name"])
        self.done(self.scheduler, Write("create", "events.events.k8s.io", key, event))

    def started(self, number: int) -> Write:
        """What a played node writes when a pod starts."""
        key = Key("default", f"fill-{number}")
        tree = json.loads(self.bodies[key])
        tree["status"] = {**tree["status"], **_running()}
        return Write("update_status", "pods", key, tree)

    def start(self, number: int) -> None:
        if not self.prepared:
            self.prepared.extend(self.started(each) for each in range(number, self.pods))
        self.done(self.player, self.prepared.popleft())

    def condition(self, number: int) -> None:
        key = Key("default", f"fill-{number}")
        condition = {**_condition("DisruptionTarget"), "status": "False", "message": "no"}
        patch = {"status": {"conditions": [condition]}}
        self.done(self.scheduler, Write("patch_status", "pods", key, patch))

    def patch(self, number: int) -> None:
        path = f"{PODS}/fill-{number}/status"
        patch = {"status": {"conditions": [_condition("example.com/x")], "message": "m"}}
        self.ask("PATCH", path, patch, "application/strategic-merge-patch+json")

    def note(self, number: int) -> None:
        self.ask("POST", EVENTS, _event(number, "http"))

    @staticmethod
    def done(client: LocalClient, write: Write) -> None:
        (outcome,) = client.write_many([write])
        assert outcome is None, outcome


def _condition(kind: str) -> Tree:
    return {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": STAMP}


def _running() -> Tree:
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    container = {
        "name": "main",
        "image": "example.com/work:1",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": STAMP}},
    }
    return {
        "phase": "Running",
        "startTime": STAMP,
        "hostIP": "10.0.0.1",
        "hostIPs": [{"ip": "10.0.0.1"}],
        "podIP": "10.42.0.7",
        "podIPs": [{"ip": "10.42.0.7"}],
        "conditions": [_condition(kind) for kind in kinds],
        "containerStatuses": [container],
    }


def _event(number: int, by: str) -> Tree:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"fill-{number}.{by}", "namespace": "default"},
        "eventTime": "2026-11-29T20:00:00.000000Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-here",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {
            "kind": "Pod",
            "namespace": "default",
            "name": f"fill-{number}",
            "uid": "00000000-0000-4000-8000-000000000000",
            "apiVersion": "v1",
            "resourceVersion": "7",
        },
        "note": f"Successfully assigned default/fill-{number} to node-0",
        "type": "Normal",
    }


def measure(step: Callable[[int], None], pods: int, *, warm: int = 20) -> float:
    """Return the microseconds of a step at the fastest tenth: others may use the machine too."""
    spent = []
    for number in range(pods):
        began = time.perf_counter_ns()
        step(number)
        spent.append(time.perf_counter_ns() - began)
    return quantiles(spent[warm:], n=10)[0] / 1e3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pods", type=int, default=2000)
    options.add_argument("--profile", action="store_true")
    chosen = options.parse_args()
    bench = Bench(chosen.pods)
    gc.collect()
    gc.freeze()
    steps = (
        bench.create, bench.bind, bench.tell, bench.start, bench.condition, bench.patch, bench.note,
    )  # fmt: skip
    for step, (name, budget) in zip(steps, BUDGETS.items(), strict=True):
        profile = cProfile.Profile()
        if chosen.profile:
            profile.enable()
        took = measure(step, chosen.pods)
        profile.disable()
        print(f"{name:30} {took:7.1f} µs   (budget {budget})")
        if chosen.profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
