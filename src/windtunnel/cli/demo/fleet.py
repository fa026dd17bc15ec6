"""The same on a fleet of two GPU models: pods that fit, wait, never fit, and make room."""

from __future__ import annotations

from typing import Final

import click

from windtunnel.cli.demo.show import NAMESPACE, Show, say, tell
from windtunnel.cli.show import draw, draw_ledger
from windtunnel.devices import GPU, POOL_LABEL, limit_of, take_ledger
from windtunnel.machinery.tree import Tree, dig

POOLS: Final = (
    "pool=h100,count=3,gpus=8,product=NVIDIA-H100-80GB-HBM3",
    "pool=a100,count=4,gpus=4,product=NVIDIA-A100-SXM4-40GB",
)
NODES: Final = 7


def _template(gpus: int, model: str, **more: object) -> Tree:
    container = {
        "name": "main",
        "image": "example.com/work:1",
        "resources": {"limits": {GPU: str(gpus)}},
    }
    selector = {POOL_LABEL: model}
    return {"nodeSelector": selector, "containers": [container], **more}


def _object(api_version: str, kind: str, name: str, **fields: object) -> Tree:
    metadata: Tree = {"name": name}
    if kind != "PriorityClass":
        metadata["namespace"] = NAMESPACE
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


def play(show: Show) -> None:
    """Fill the fleet, and ask for more than it has."""
    client = show.client
    show.until(
        "GPUs on the fleet", lambda: show.offers("h100-2") == 8 and show.offers("a100-3") == 4
    )
    say("2. The same on a fleet of nodes that run nothing: the scheduler sees no difference.")
    for node in ("h100-0", "a100-0"):
        tell(node, f"{GPU} = {show.offers(node)}")
    say("3. Work arrives: a service of 4 pods, a batch job, three trainings of 8 GPUs each.")
    for resource, tree in _workloads():
        client.create(resource, tree)
    show.until("a full fleet", lambda: show.running() >= 8)
    _draw_pods(show)

    say("4. One that never fits, and one that waits because all are busy: mind the two endings.")
    for pod in (TOO_LARGE, WAITS):
        client.create("pods", pod)
    for name in ("too-large", "waits"):
        show.until("a verdict", lambda name=name: bool(show.why(name)))  # type: ignore[misc]
        click.echo(f"   {name}: {show.why(name)}")

    say("5. One with a higher priority: the scheduler makes room for it.")
    client.create("pods", URGENT)
    show.until("room for urgent", lambda: show.runs("urgent"))
    gone = [f"training-{n}" for n in range(3) if not show.pod(f"training-{n}")]
    click.echo(f"   urgent runs on {dig(show.pod('urgent'), 'spec', 'nodeName')}; "
               f"evicted for it: {', '.join(gone)}")  # fmt: skip

    say("6. The GPU ledger.")
    draw_ledger(take_ledger(client.list("nodes"), client.list("pods")))


def _draw_pods(show: Show) -> None:
    draw(
        ("POD", "#GPUS", "NODE", "STATUS"),
        [
            (
                pod["metadata"]["name"],
                limit_of(pod),
                dig(pod, "spec", "nodeName") or "-",
                dig(pod, "status", "phase"),
            )
            for pod in show.client.list("pods", NAMESPACE)
        ],
    )
