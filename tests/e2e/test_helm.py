"""The real helm on our server: a release of its own, and one that the cluster installed itself."""

import json
import shutil
from collections.abc import Callable

import pytest
import yaml

from tests.e2e.conftest import Helm, Home, Kubectl
from windtunnel.gpu.chart import CHART

pytestmark = pytest.mark.real

Up = Callable[..., Home]


def test_helm_installs_upgrades_rolls_back_and_uninstalls(
    up: Up, helm: Helm, kubectl: Kubectl
) -> None:
    up("--ephemeral", "--port", "0", "--without", "scheduler,controllers,nodes")
    off = ("--set", "runtimeClass.enabled=false")
    where = ("-n", "gpu-operator")

    def gpus() -> str:
        return kubectl("get", "configmap", "topology", *where, "-o", "jsonpath={.data}")

    helm("install", "gpu-operator", str(CHART), *where, "--create-namespace", *off)
    assert "gpuCount: 2" in gpus()

    four = "topology.nodePools.default.gpuCount=4"
    helm("upgrade", "gpu-operator", str(CHART), *where, "--reuse-values", "--set", four)
    assert "gpuCount: 4" in gpus()

    helm("rollback", "gpu-operator", "1", *where)
    assert "gpuCount: 2" in gpus()
    assert "deployed" in helm("list", "-A")

    helm("uninstall", "gpu-operator", *where)
    assert kubectl("get", "daemonsets,deployments,configmaps", *where, "-o", "name") == ""


def test_a_release_of_a_chart_that_knew_less_is_upgraded(
    up: Up, helm: Helm, kubectl: Kubectl
) -> None:
    home = up("--ephemeral", "--port", "0", "--without", "scheduler,controllers,nodes")
    older = home.path / "older"
    shutil.copytree(CHART, older)
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    younger_keys = ("affinity", "apiServer", "compat", "customProfiles", "hostNetwork", "nvmlMock")
    for key in younger_keys:
        del values[key]
    (older / "values.yaml").write_text(yaml.safe_dump(values))
    where = ("-n", "gpu-operator")
    off = ("--set", "runtimeClass.enabled=false")
    helm("install", "gpu-operator", str(older), *where, "--create-namespace", *off)

    helm("upgrade", "gpu-operator", str(CHART), *where, "--reuse-values")

    names = kubectl("get", "deployments,daemonsets", *where, "-o", "name").split()
    assert "deployment.apps/status-updater" in names
    assert "daemonset.apps/device-plugin" in names


def test_who_installs_it_is_told_when_no_node_has_gpus(
    up: Up, helm: Helm, kubectl: Kubectl
) -> None:
    up("--ephemeral", "--port", "0", "--without", "scheduler,controllers,nodes")
    label = "run.ai/simulated-gpu-node-pool"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    kubectl("apply", "-f", "-", stdin=json.dumps(node))
    where = ("-n", "gpu-operator", "--set", "runtimeClass.enabled=false")

    told = helm("install", "gpu-operator", str(CHART), "--create-namespace", *where)
    assert f"0 nodes carry the pool label {label}" in told
    assert f"kubectl label node NODE {label}=default" in told

    kubectl("label", "node", "n", f"{label}=default")
    assert "0 nodes carry" not in helm("upgrade", "gpu-operator", str(CHART), *where)
