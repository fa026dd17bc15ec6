"""The official Python client and kr8s drive a cluster."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.e2e.conftest import Home

pytestmark = pytest.mark.real

Up = Callable[..., Home]

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "containers": [
            {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        ]
    },
}


def test_the_official_client_creates_watches_patches_and_deletes(up: Up) -> None:
    from kubernetes import client, config, watch

    home = up("--ephemeral", "--nodes", "h100:1x8")
    config.load_kube_config(str(home.kubeconfig))
    core = client.CoreV1Api()

    core.create_namespaced_pod("default", POD)
    seen = []
    for event in watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=20):
        seen.append(event["object"].status.phase)
        if seen[-1] == "Running":
            break
    assert seen[-1] == "Running"

    core.patch_namespaced_pod("p", "default", {"metadata": {"labels": {"a": "b"}}})
    (pod,) = core.list_namespaced_pod("default", label_selector="a=b").items
    assert pod.spec.node_name == "h100-0"

    core.delete_namespaced_pod("p", "default", grace_period_seconds=0)
    assert core.list_namespaced_pod("default").items == []
    core.api_client.close()


def test_the_dynamic_client_finds_every_kind(up: Up) -> None:
    from kubernetes import client, config, dynamic

    home = up("--ephemeral")
    config.load_kube_config(str(home.kubeconfig))
    with client.ApiClient() as ours:
        found = dynamic.DynamicClient(ours)
        deployments = found.resources.get(api_version="apps/v1", kind="Deployment")

        assert deployments.get(namespace="default").items == []


KR8S = """
import sys
import kr8s
from kr8s.objects import Deployment

api = kr8s.api(kubeconfig=sys.argv[1])
labels = {"app": "web"}
limits = {"limits": {"nvidia.com/gpu": "1"}}
template = {
    "metadata": {"labels": labels},
    "spec": {"containers": [{"name": "c", "image": "x", "resources": limits}]},
}
spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
metadata = {"name": "web", "namespace": "default"}
deployment = Deployment({"metadata": metadata, "spec": spec}, api=api)
deployment.create()
deployment.wait("condition=Available", timeout=20)
deployment.scale(3)
deployment.wait("jsonpath='{.status.readyReplicas}'=3", timeout=20)
print(len(list(api.get("pods", namespace="default", label_selector=labels))))
deployment.delete()
"""


def test_kr8s_creates_scales_and_deletes(up: Up) -> None:
    home = up("--ephemeral", "--nodes", "h100:1x8")

    # In a process of its own: it cannot be asked to close its connections.
    done = subprocess.run(
        [sys.executable, "-c", KR8S, str(home.kubeconfig)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stdout == "3\n", done.stderr
