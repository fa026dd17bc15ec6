"""The cluster that is shown, and what one looks at in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

import click

from windtunnel.devices import GPU
from windtunnel.errors import ClusterError
from windtunnel.home import reach
from windtunnel.machinery.tree import Key, Tree, dig

NAMESPACE: Final = "default"
PATIENCE_SECONDS: Final = 30.0


def say(text: str) -> None:
    """Print the headline of what comes."""
    click.secho(f"\n{text}", bold=True)


def tell(what: str, text: str) -> None:
    """Print one line under a headline."""
    click.echo(f"   {what:<24} {text}")


class Show:
    """The cluster that is shown, and what one looks at."""

    def __init__(self, name: str) -> None:
        self.client = reach(name)

    def until(self, what: str, true: Callable[[], bool]) -> None:
        """Wait until something is true.

        Raises:
            ClusterError: it did not become true in time.
        """
        pause, end = threading.Event(), monotonic() + PATIENCE_SECONDS
        while not true():
            if monotonic() > end:
                raise ClusterError(f"{what} did not happen within {PATIENCE_SECONDS:.0f} s")
            pause.wait(0.02)

    def get(self, resource: str, name: str, namespace: str = "") -> Tree:
        """Return an object; an empty tree where there is none."""
        return self.client.get(resource, Key(namespace, name)) or {}

    def pod(self, name: str) -> Tree:
        """Return a pod; an empty tree where there is none."""
        return self.get("pods", name, NAMESPACE)

    def why(self, name: str) -> str:
        """Return the scheduler's words about a pod, or ""."""
        for condition in dig(self.pod(name), "status", "conditions") or ():
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return str(condition.get("message", ""))
        return ""

    def runs(self, name: str) -> bool:
        """Whether a pod is Running."""
        return bool(dig(self.pod(name), "status", "phase") == "Running")

    def running(self, prefix: str = "") -> int:
        """Return how many pods of the namespace are Running."""
        pods = self.client.list("pods", NAMESPACE)
        return sum(dig(pod, "status", "phase") == "Running" for pod in pods)

    def offers(self, node: str) -> int:
        """Return how many GPUs a node offers."""
        return int(dig(self.get("nodes", node), "status", "allocatable", GPU) or 0)

    def run_inside(self, node: str, pod: str, container: str, command: str) -> str:
        """Run a command in a container, by way of the node's kubelet; returns its output.

        Raises:
            ClusterError: the kubelet refused.
        """
        path = f"/api/v1/nodes/{node}/proxy/run/{NAMESPACE}/{pod}/{container}"
        status, body = self.client.ask("POST", path, b"", {"cmd": command})
        if status != 200:
            raise ClusterError(f"{command} could not be run in {pod}: {body.decode().strip()}")
        return body.decode()
