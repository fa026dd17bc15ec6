"""The real helm on our server: a release of its own, and one that the cluster installed itself."""

from collections.abc import Callable

import pytest

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
