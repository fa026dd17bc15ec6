"""The longest steps of the loop, by who takes them: no step may keep requests waiting for 10 ms.

A cluster in virtual time goes through a day's work: pools at the start, nodes that are added while
it runs, pods that fill them, pods that fit nowhere, a full cluster with somebody more important at
the door, a Deployment, a namespace that goes. The time is that of the thread, so that neighbours on
the machine do not count; collections of garbage do, set up as a server does.

    python benchmarks/steps.py [--nodes 1500] [--pods 5000] [--scene NAME ...]
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from windtunnel.assembly.virtual import Virtual
from windtunnel.fleet import PodReader
from windtunnel.kernel import Loop
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.tree import Key, Tree, encode, key_of
from windtunnel.nodes import PoolOrder
from windtunnel.nodes.played.trees import node_trees

BOUND_MS = 10.0
GARBAGE = (10_000, 1_000, 100)
"""As a server collects it."""
GPU = "nvidia.com/gpu"


class Stopwatch:
    """Times of steps by who took them, in milliseconds."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = defaultdict(list)

    def timed(self, step: Callable[[], None]) -> Callable[[], None]:
        who = _name(step)

        def play() -> None:
            begun = time.thread_time_ns()
            try:
                step()
            finally:
                self.taken[who].append((time.thread_time_ns() - begun) / 1e6)

        return play

    def request(self, who: str, call: Callable[[], Any]) -> None:
        self.timed(partial(_at, who, call))()


def _at(_: str, call: Callable[[], Any]) -> None:
    call()


def _name(step: Any) -> str:
    """Say whose step it is."""
    if isinstance(step, partial):
        return str(step.args[0]) if step.func is _at else _name(step.func)
    owner = getattr(step, "__self__", None)
    if owner is None:
        return str(getattr(step, "__qualname__", step))
    return f"{type(owner).__name__} {getattr(owner, '_name', '')} {step.__name__}"


@contextmanager
def watching(watch: Stopwatch) -> Iterator[None]:
    """Time every step of every loop."""
    original = Loop.call_at

    def call_at(loop: Loop, when: float, step: Callable[[], None], priority: int = 10) -> Any:
        return original(loop, when, watch.timed(step), priority)

    Loop.call_at = call_at  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Loop.call_at = original  # type: ignore[method-assign]


def pool(name: str, count: int) -> PoolOrder:
    return PoolOrder(name=name, count=count, gpus=8)


def pod(name: str, gpus: str = "1", **spec: Any) -> Tree:
    container = {"name": "main", "image": "x", "resources": {"limits": {GPU: gpus}}}
    return {
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name[:3]}},
        "spec": {"containers": [container], **spec},
    }


def start(watch: Stopwatch, nodes: int, pods: int) -> Virtual:
    """Pools that are there from the start."""
    made = Virtual(pools=[pool("h100", nodes)])
    made.run(30)
    return made


def added(watch: Stopwatch, nodes: int, pods: int) -> None:
    """Nodes that come one by one, while pods wait for room."""
    made = start(watch, nodes // 2, pods)
    client = made.client("user")
    for number in range(50):
        client.create("pods", pod(f"big{number}", "64"))
    made.run(20)
    taken = [node["metadata"]["name"] for node in client.list("nodes")]
    fresh = iter(node_trees(pool("h100", nodes - nodes // 2), taken))
    for _ in range(40):
        node = next(fresh)
        watch.request("request: add a node", lambda: client.create("nodes", node))  # noqa: B023
        made.run(0.05)
    for node in fresh:
        client.create("nodes", node)
    made.run(30)


def filled(watch: Stopwatch, nodes: int, pods: int) -> Virtual:
    """Pods that fill the nodes."""
    made = start(watch, nodes, pods)
    client = made.client("user")
    for number in range(pods):
        watch.request(
            "request: create a pod",
            lambda: client.create("pods", pod(f"one{number}")),  # noqa: B023
        )
        if number % 100 == 99:
            made.run(0.1)
    made.run(60)
    for number in range(20):
        client.create("pods", pod(f"never{number}", "64"))
    made.run(30)
    return made


def spread(watch: Stopwatch, nodes: int, pods: int) -> None:
    """Pods that look at each other."""
    made = start(watch, nodes, pods)
    client = made.client("user")
    selector = {"matchLabels": {"app": "two"}}
    constraints = [
        {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "labelSelector": selector,
         "whenUnsatisfiable": "DoNotSchedule"},
    ]  # fmt: skip
    terms = [{"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}]
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    for number in range(pods // 10):
        client.create("pods", pod(f"two{number}", topologySpreadConstraints=constraints))
        client.create("pods", pod(f"two-{number}", affinity=anti))
    made.run(60)


def crowded(watch: Stopwatch, nodes: int, pods: int) -> None:
    """Every node holds 110 small pods, and somebody more important comes."""
    made = start(watch, nodes, pods)
    client = made.client("user")
    scheduler = made.parts.scheduler
    assert scheduler is not None
    engine, reader = scheduler.engine, PodReader()
    tree = pod("low", "0", priority=-10)
    for node in engine.fleet.names:
        for number in range(110):
            tree["metadata"]["name"] = f"{node}-{number}"
            engine.fleet.place(reader.read(encode(tree)), node)
    for number in range(3):
        client.create("pods", pod(f"urgent{number}"))
        made.run(5)


def departing(watch: Stopwatch, nodes: int, pods: int) -> None:
    """A Deployment comes, shrinks, and goes with its namespace; a pool goes too."""
    made = start(watch, nodes, pods)
    client = made.client("user")
    client.create("namespaces", {"metadata": {"name": "team"}})
    template = pod("dep")
    del template["metadata"]["name"], template["metadata"]["namespace"]
    client.create(
        "deployments.apps",
        {
            "metadata": {"name": "many", "namespace": "team"},
            "spec": {
                "replicas": pods,
                "selector": {"matchLabels": {"app": "dep"}},
                "template": template,
            },
        },
    )
    made.run(120)
    client.delete("namespaces", Key("", "team"))
    made.run(120)
    for node in client.list("nodes")[: nodes // 2]:
        client.delete("nodes", key_of(node))
    made.run(30)


SCENES = {
    "start": start,
    "added": added,
    "filled": filled,
    "spread": spread,
    "crowded": crowded,
    "departing": departing,
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1500)
    options.add_argument("--pods", type=int, default=5000)
    options.add_argument("--scene", nargs="*", choices=SCENES, default=list(SCENES))
    chosen = options.parse_args()
    long = 0
    for name in chosen.scene:
        watch = Stopwatch()
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        with watching(watch):
            try:
                SCENES[name](watch, chosen.nodes, chosen.pods)
            except ApiError as error:
                print(f"{name}: {error}")
        print(f"{name} ({chosen.nodes} nodes, {chosen.pods} pods): ms at most, steps over "
              f"{BOUND_MS:g} ms, steps")  # fmt: skip
        for who, taken in sorted(watch.taken.items(), key=lambda one: -max(one[1]))[:8]:
            over = sum(each > BOUND_MS for each in taken)
            long += over
            print(f"  {max(taken):7.1f} {over:5} {len(taken):8}  {who}")
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
