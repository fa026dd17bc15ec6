"""What pods ask for: one table for everybody who counts it."""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.tree import Tree

GPU = "nvidia.com/gpu"
INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}


def asks(name: str = "c", restart: str = "", **amounts: str) -> Tree:
    """A container that requests, and is limited to, some amounts; ``gpu`` is spelt out."""
    named = {key.replace("gpu", GPU): value for key, value in amounts.items()}
    container: Tree = {"name": name, "resources": {"requests": named, "limits": dict(named)}}
    return {**container, "restartPolicy": restart} if restart else container


def sidecar(name: str = "s", **amounts: str) -> Tree:
    return asks(name, "Always", **amounts)


def asking(
    *containers: Tree, init: tuple[Tree, ...] = (), status: Tree | None = None, **spec: Any
) -> Tree:
    return {
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": list(containers), "initContainers": list(init), **spec},
        "status": status or {},
    }


def holding(allocated: str, actual: str = "", *conditions: Tree) -> Tree:
    """A status in which container ``c`` holds so much cpu."""
    held: Tree = {"name": "c", "allocatedResources": {"cpu": allocated}}
    if actual:
        held["resources"] = {"requests": {"cpu": actual}}
    return {"containerStatuses": [held], "conditions": list(conditions)}


CASES: dict[str, tuple[Tree, dict[str, int]]] = {
    "nothing": (asking(asks()), {}),
    "containers add up": (
        asking(asks(cpu="1"), asks(cpu="500m", gpu="1")), {"cpu": 1500, GPU: 1},
    ),
    "an init container counts where it is larger": (
        asking(asks(cpu="1"), init=(asks(cpu="3"), asks(gpu="2"))), {"cpu": 3000, GPU: 2},
    ),
    "a sidecar counts beside the containers": (
        asking(asks(cpu="1", gpu="2"), init=(sidecar(cpu="2", gpu="1"),)), {"cpu": 3000, GPU: 3},
    ),
    "a sidecar counts beside later init containers only": (
        asking(
            asks(cpu="1", gpu="2"),
            init=(asks(cpu="5"), sidecar(cpu="2", gpu="1"), asks(cpu="4", gpu="4")),
        ),
        {"cpu": 6000, GPU: 5},
    ),
    "what is given for the pod replaces the sum, except for extended resources": (
        asking(
            asks(cpu="1", gpu="2"),
            resources={"requests": {"cpu": "4", "memory": "1Gi", GPU: "9"}},
        ),
        {"cpu": 4000, "memory": 1073741824, GPU: 2},
    ),
    "overhead is added": (asking(asks(cpu="1"), overhead={"cpu": "250m"}), {"cpu": 1250}),
    "fractions are rounded up": (asking(asks(cpu="1.0005")), {"cpu": 1001}),
    "fractions are rounded up at the end": (
        asking(asks(memory="1500m"), asks(memory="1500m")), {"memory": 3},
    ),
    "what a container holds counts where it is larger": (
        asking(asks(cpu="1"), status=holding("2", "3")), {"cpu": 3000},
    ),
    "what a container holds does not count where it is smaller": (
        asking(asks(cpu="4"), status=holding("2", "3")), {"cpu": 4000},
    ),
    "a wish that can never be granted does not count": (
        asking(asks(cpu="64"), status=holding("2", "3", INFEASIBLE)), {"cpu": 3000},
    ),
    "an init container that is no sidecar is never resized": (
        asking(
            asks("m", cpu="1"),
            init=(asks(cpu="2"),),
            status={"initContainerStatuses": holding("9")["containerStatuses"]},
        ),
        {"cpu": 2000},
    ),
}  # fmt: skip
"""The pod, and what it asks for: cpu in thousandths, everything else in units."""
