"""The real kubectl 1.36 drives a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.e2e.conftest import Home, Kubectl

pytestmark = pytest.mark.real

Up = Callable[..., Home]

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: example.com/web:1
        resources: {limits: {nvidia.com/gpu: "1"}}
"""


def test_a_deployment_is_applied_scaled_changed_and_deleted(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral", "--nodes", "h100:2x8")

    assert kubectl("apply", "-f", "-", stdin=DEPLOYMENT) == "deployment.apps/web created\n"
    assert "successfully rolled out" in kubectl("rollout", "status", "deploy/web", "--timeout=20s")
    assert kubectl("apply", "-f", "-", stdin=DEPLOYMENT) == "deployment.apps/web unchanged\n"

    kubectl("scale", "deploy/web", "--replicas=4")
    kubectl("rollout", "status", "deploy/web", "--timeout=20s")
    table = kubectl("get", "deploy", "web").splitlines()
    assert table[0].split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert table[1].split()[:4] == ["web", "4/4", "4", "4"]

    kubectl("set", "image", "deploy/web", "main=example.com/web:2")
    kubectl("rollout", "status", "deploy/web", "--timeout=20s")
    images = kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}")
    assert set(images.split()) == {"example.com/web:2"}

    kubectl("delete", "deploy/web", "--timeout=20s")
    kubectl("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=20s")


def test_server_side_apply_and_conflicts(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral")
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '%s'}\n"

    apply = ("apply", "--server-side", "-f", "-")
    kubectl(*apply, "--field-manager=one", stdin=config % 1)
    refused = kubectl(*apply, "--field-manager=two", stdin=config % 2, code=1)
    assert 'conflict with "one"' in refused

    kubectl(*apply, "--field-manager=two", "--force-conflicts", stdin=config % 2)
    assert kubectl("get", "cm", "c", "-o", "jsonpath={.data.a}") == "2"


def test_why_a_pod_waits_is_described(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral", "--nodes", "h100:1x8")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "large"},
        "spec": {
            "containers": [
                {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 16}}}
            ]
        },
    }
    kubectl("create", "-f", "-", stdin=json.dumps(pod))
    kubectl("wait", "--for=condition=PodScheduled=false", "pod/large", "--timeout=20s")

    described = kubectl("describe", "pod", "large")

    assert "Insufficient nvidia.com/gpu" in described
    assert "Preemption is not helpful for scheduling" in described


def test_nodes_look_like_nodes(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral", "--nodes", "h100:2x8")
    kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=20s")

    table = [line.split() for line in kubectl("get", "nodes").splitlines()]
    assert table[0] == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row[:2] for row in table[1:]] == [["h100-0", "Ready"], ["h100-1", "Ready"]]

    kubectl("cordon", "h100-0")
    assert "SchedulingDisabled" in kubectl("get", "node", "h100-0")
    assert "nvidia.com/gpu" in kubectl("describe", "node", "h100-0")


def test_a_job_completes_and_a_namespace_goes_away(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral", "--nodes", "h100:1x8")
    kubectl("create", "namespace", "team")
    kubectl("-n", "team", "create", "job", "once", "--image=example.com/once:1")
    kubectl("-n", "team", "wait", "--for=condition=complete", "job/once", "--timeout=20s")

    kubectl("delete", "namespace", "team", "--timeout=20s")

    assert "not found" in kubectl("get", "namespace", "team", code=1)


def test_quota_and_permissions(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral", "--nodes", "h100:1x8")
    kubectl("create", "quota", "gpus", "--hard=requests.nvidia.com/gpu=1")
    # A quota binds once its controller has written down what is used, here as in the real cluster.
    kubectl("wait", "quota/gpus", "--for=jsonpath={.status.hard}", "--timeout=30s")
    pod = ("run", "x", "--image=x", "--overrides",
           '{"spec":{"containers":[{"name":"x","image":"x",'
           '"resources":{"limits":{"nvidia.com/gpu":"2"}}}]}}')  # fmt: skip
    assert "exceeded quota: gpus" in kubectl(*pod, code=1)

    assert kubectl("auth", "can-i", "delete", "nodes") == "yes\n"
    ann = ("--as=system:serviceaccount:default:default",)
    assert "cannot list resource" in kubectl("get", "nodes", *ann, code=1)


def test_a_custom_resource_is_served_at_once(up: Up, kubectl: Kubectl) -> None:
    up("--ephemeral")
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "budgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "budgets", "singular": "budget", "kind": "Budget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "properties": {"gpus": {"type": "integer", "minimum": 1}},
                                }
                            },
                        }
                    },
                }
            ],
        },
    }
    kubectl("create", "-f", "-", stdin=json.dumps(definition))
    kubectl("wait", "--for=condition=Established", "crd/budgets.example.com", "--timeout=10s")
    budget = {"apiVersion": "example.com/v1", "kind": "Budget", "metadata": {"name": "b"}}

    wrong = kubectl("create", "-f", "-", stdin=json.dumps(budget | {"spec": {"gpus": 0}}), code=1)
    assert "should be greater than or equal to 1" in wrong
    kubectl("create", "-f", "-", stdin=json.dumps(budget | {"spec": {"gpus": 2}}))
    assert kubectl("get", "budgets").splitlines()[1].split()[0] == "b"


def test_windtunnel_kubectl_uses_the_cluster_that_is_named(up: Up, real_kubectl: object) -> None:
    home = up("--ephemeral", "--name", "a")

    done = home.run("kubectl", "--name", "a", "--", "get", "ns", "-o", "name",
                    KUBECTL=str(real_kubectl))  # fmt: skip

    assert "namespace/default" in done.stdout.split()
    failed = home.run("kubectl", "--name", "a", "get", "nothing", KUBECTL=str(real_kubectl))
    assert failed.returncode == 1
