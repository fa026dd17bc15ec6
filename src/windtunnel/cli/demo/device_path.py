"""The way of a number: from a value of the chart, step by step, to a GPU in a container."""

from __future__ import annotations

from typing import Final

import click
import yaml

from windtunnel.assembly import NODE
from windtunnel.cli.demo.show import NAMESPACE, Show, say, tell
from windtunnel.devices import GPU, POOL_NAMESPACE, PRODUCT_LABEL, TOPOLOGY_KEY
from windtunnel.machinery.tree import Tree, dig

GPUS: Final = 2
_IMAGE: Final = "registry.k8s.io/e2e-test-images/busybox:1.36.1-1"
_POD: Final[Tree] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "gpu-1", "namespace": NAMESPACE},
    "spec": {
        "terminationGracePeriodSeconds": 1,
        "nodeSelector": {"kubernetes.io/hostname": NODE},
        "containers": [
            {
                "name": "main",
                "image": _IMAGE,
                "command": ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"],
                "resources": {"limits": {GPU: "1"}},
            }
        ],
    },
}


def play(show: Show) -> None:
    """Follow the number until a program inside a container prints it."""
    say("1. From a Helm value to a GPU in a container.")
    show.until("the operator's release", lambda: bool(_topology(show)))
    pool = _topology(show)["nodePools"]["default"]
    tell("Helm value", f"topology.nodePools.default.gpuCount = {pool['gpuCount']}")
    tell("ConfigMap topology", f"pool default: {pool['gpuCount']} × {pool['gpuProduct']}")
    show.until("the node's own document", lambda: bool(_ids(show)))
    tell(f"ConfigMap topology-{NODE}", ", ".join(_ids(show)))
    show.until("two GPUs", lambda: show.offers(NODE) == GPUS)
    tell("ListAndWatch", f"the device plugin told the kubelet of {GPUS} devices")
    tell("allocatable", f"{GPU} = {show.offers(NODE)} on {NODE}")

    show.client.create("pods", _POD)
    show.until("a running pod", lambda: show.runs("gpu-1"))
    tell("Allocate", f"pod gpu-1 was given {_given(show)}")
    tell("inside the container", "nvidia-smi")
    show.until("the account of the pod's GPU", lambda: "gpu-1" in str(_document(show)))
    show.until(
        "the node's labels", lambda: PRODUCT_LABEL in show.get("nodes", NODE)["metadata"]["labels"]
    )
    for line in show.run_inside(NODE, "gpu-1", "main", "nvidia-smi").splitlines()[1:12]:
        click.echo(f"      {line}")


def _document(show: Show, name: str = f"topology-{NODE}") -> Tree:
    text = dig(show.get("configmaps", name, POOL_NAMESPACE), "data", TOPOLOGY_KEY)
    found: Tree = yaml.safe_load(text) if text else {}
    return found


def _topology(show: Show) -> Tree:
    return _document(show, "topology")


def _ids(show: Show) -> list[str]:
    return [gpu["id"] for gpu in _document(show).get("gpus") or ()]


def _given(show: Show) -> str:
    """Return the devices that the kubelet says the pod has."""
    (container,) = dig(show.pod("gpu-1"), "status", "containerStatuses")
    return ", ".join(
        each["resourceID"]
        for resource in container.get("allocatedResourcesStatus") or ()
        for each in resource["resources"]
    )
