"""``windtunnel demo``: the main things in half a minute, on a cluster of its own.

A fleet of two GPU models, pods of several kinds, two that wait for different reasons, and one
whose priority makes room. Other clusters are not touched, nor is the user's kubeconfig unless the
cluster is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

import click

from windtunnel.cli.show import draw, draw_ledger
from windtunnel.errors import ClusterError
from windtunnel.machinery.tree import Key, Tree, dig

NAME: Final = "demo"
FLEET: Final = (
    "pool=h100,count=3,gpus=8,product=NVIDIA-H100-80GB-HBM3",
    "pool=a100,count=4,gpus=4,product=NVIDIA-A100-SXM4-40GB",
)
GPUS: Final = 3 * 8 + 4 * 4
PATIENCE_SECONDS: Final = 20.0
_NAMESPACE: Final = "default"


def _template(gpus: int, model: str, **more: object) -> Tree:
    container = {
        "name": "main",
        "image": "example.com/work:1",
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
    }
    selector = {"run.ai/simulated-gpu-node-pool": model}
    return {"nodeSelector": selector, "containers": [container], **more}


def _object(api_version: str, kind: str, name: str, **fields: object) -> Tree:
    metadata: Tree = {"name": name}
    if kind != "PriorityClass":
        metadata["namespace"] = _NAMESPACE
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _workloads() -> list[tuple[str, Tree]]:
    """Return what fills the fleet: a service, a batch job, and three large trainings."""
    labels = {"app": "serving"}
    serving = {
        "replicas": 4,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": _template(1, "a100")},
    }
    job = {"template": {"spec": _template(2, "a100", restartPolicy="Never")}}
    urgent = _object("scheduling.k8s.io/v1", "PriorityClass", "urgent", value=1000)
    return [
        ("priorityclasses.scheduling.k8s.io", urgent),
        ("deployments.apps", _object("apps/v1", "Deployment", "serving", spec=serving)),
        ("jobs.batch", _object("batch/v1", "Job", "preprocess", spec=job)),
        *(
            ("pods", _object("v1", "Pod", f"training-{n}", spec=_template(8, "h100")))
            for n in range(3)
        ),
    ]


TOO_LARGE: Final = _object("v1", "Pod", "too-large", spec=_template(16, "h100"))
WAITS: Final = _object("v1", "Pod", "waits", spec=_template(8, "h100"))
URGENT: Final = _object(
    "v1", "Pod", "urgent", spec=_template(8, "h100", priorityClassName="urgent")
)


class Show:
    """The cluster that is shown, and what one looks at."""

    def __init__(self, name: str) -> None:
        from windtunnel.home import reach

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

    def pod(self, name: str) -> Tree:
        """Return a pod; an empty tree where there is none."""
        return self.client.get("pods", Key(_NAMESPACE, name)) or {}

    def why(self, name: str) -> str:
        """Return the scheduler's words about a pod, or ""."""
        for condition in dig(self.pod(name), "status", "conditions") or ():
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return str(condition.get("message", ""))
        return ""

    def runs(self, name: str) -> bool:
        """Whether a pod is Running."""
        return bool(dig(self.pod(name), "status", "phase") == "Running")

    def running(self) -> int:
        """Return how many pods are Running."""
        pods = self.client.list("pods", _NAMESPACE)
        return sum(dig(pod, "status", "phase") == "Running" for pod in pods)

    def gpus(self) -> int:
        """Return how many GPUs the nodes offer."""
        nodes = self.client.list("nodes")
        return sum(int(dig(n, "status", "allocatable", "nvidia.com/gpu") or 0) for n in nodes)


def _say(text: str) -> None:
    click.secho(f"\n{text}", bold=True)


def _play(show: Show) -> None:
    client = show.client
    show.until("GPUs on all nodes", lambda: show.gpus() == GPUS)
    _say("1. Work arrives: a service of 4 pods, a batch job, three trainings of 8 GPUs each.")
    for resource, tree in _workloads():
        client.create(resource, tree)
    show.until("a full fleet", lambda: show.running() >= 7)
    _draw_pods(show)

    _say("2. One that never fits, and one that waits because all are busy: mind the two endings.")
    for pod in (TOO_LARGE, WAITS):
        client.create("pods", pod)
    for name in ("too-large", "waits"):
        show.until("a verdict", lambda name=name: bool(show.why(name)))  # type: ignore[misc]
        click.echo(f"   {name}: {show.why(name)}")

    _say("3. One with a higher priority: the scheduler makes room for it.")
    client.create("pods", URGENT)
    show.until("room for urgent", lambda: show.runs("urgent"))
    gone = [f"training-{n}" for n in range(3) if not show.pod(f"training-{n}")]
    click.echo(f"   urgent runs on {dig(show.pod('urgent'), 'spec', 'nodeName')}; "
               f"evicted for it: {', '.join(gone)}")  # fmt: skip

    _say("4. The GPU ledger.")
    from windtunnel.devices import take_ledger

    draw_ledger(take_ledger(client.list("nodes"), client.list("pods")))


def _draw_pods(show: Show) -> None:
    from windtunnel.devices import limit_of

    draw(
        ("POD", "#GPUS", "NODE", "STATUS"),
        [
            (
                pod["metadata"]["name"],
                limit_of(pod),
                dig(pod, "spec", "nodeName") or "-",
                dig(pod, "status", "phase"),
            )
            for pod in show.client.list("pods", _NAMESPACE)
        ],
    )


@click.command()
@click.option("--keep", is_flag=True, help="Leave the cluster running.")
def command(keep: bool) -> None:
    """Show the main things in half a minute, on a cluster of its own."""
    from windtunnel.assembly import Settings, start
    from windtunnel.client.kubeconfig import default_path
    from windtunnel.home import Folder, stop
    from windtunnel.nodes import parse_order

    began = monotonic()
    folder = Folder(NAME)
    private = folder.path / "context"
    settings = Settings(
        name=NAME,
        kubeconfig=default_path().absolute() if keep else private,
        ephemeral=True,
        pools=tuple(parse_order(order) for order in FLEET),
    )
    process = start(settings, bound=not keep)
    kept = False
    try:
        click.secho(
            f"A cluster with {GPUS} GPUs on 7 nodes, {monotonic() - began:.1f} s from nothing "
            f"({process.url}).",
            bold=True,
        )
        _play(Show(NAME))
        kept = keep
    finally:
        if not kept:
            stop(folder)
            folder.remove()
    _say("To go on:")
    if keep:
        click.echo(f"   kubectl --context windtunnel-{NAME} describe pod waits")
        click.echo(f"   windtunnel nodes add --name {NAME} --pool h100 --count 1    # lets it run")
        click.echo(f"   windtunnel ledger --name {NAME}")
        click.echo(f"   windtunnel down --name {NAME} --purge")
    else:
        click.echo("   windtunnel demo --keep                    # the same, to look around in")
        click.echo("   windtunnel up --detach --nodes h100:4x8   # a cluster of your own")
        click.echo("   windtunnel kubectl -- get nodes")
        click.echo("   windtunnel ledger")
    click.echo(f"\n{monotonic() - began:.1f} s. Nothing inside a container was run: no CUDA.")
