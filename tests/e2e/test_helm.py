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


FREE = {
    "deployment.apps/kwok-gpu-device-plugin",
    "deployment.apps/nvidia-dcgm-exporter",
    "deployment.apps/nvidia-dcgm-exporter-kwok",
    "deployment.apps/status-updater",
    "deployment.apps/topology-server",
    "daemonset.apps/nvidia-dcgm-exporter",
}
"""What no label of a node that runs containers calls to it."""
SHY = (
    "{range .items[*]}{.kind}.apps/{.metadata.name} "
    "{.spec.template.spec.affinity..matchExpressions[*].key}{'\\n'}{end}"
)


@pytest.mark.parametrize("compat", ["", "0.2"])
@pytest.mark.parametrize(
    ("labels", "apart"),
    [
        ({}, False),
        ({"type": "kwok"}, True),
        ({"windtunnel.dev/played-nodes": "may-come"}, True),
        (None, True),
    ],
    ids=["real", "played", "may-be-played", "no-node-yet"],
)
def test_its_pods_are_kept_off_played_nodes_where_there_may_be_some(
    up: Up, helm: Helm, kubectl: Kubectl, labels: dict[str, str] | None, apart: bool, compat: str
) -> None:
    up("--ephemeral", "--port", "0", "--without", "scheduler,controllers,nodes")
    if labels is not None:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}}
        kubectl("apply", "-f", "-", stdin=json.dumps(node))
    chart = (str(CHART), "-n", "gpu-operator", "--set", "runtimeClass.enabled=false")

    def shy(key: str) -> set[str]:
        told = kubectl("get", "deploy,ds", "-n", "gpu-operator", "-o", f"jsonpath={SHY}")
        lines = [line.split() for line in told.lower().splitlines()]
        return {line[0] for line in lines if key in line[1:]}

    helm("install", "gpu-operator", *chart, "--create-namespace", "--set", f"compat={compat}")
    assert shy("type") == (FREE if apart else set())

    own = '{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":'
    own += '[{"matchExpressions":[{"key":"mine","operator":"Exists"}]}]}}}'
    helm("upgrade", "gpu-operator", *chart, "--set-json", f"affinity={own}")
    assert (shy("type"), shy("mine")) == (set(), FREE)


@pytest.mark.timeout(120)
def test_a_plain_upgrade_keeps_what_up_made_of_a_cluster_with_played_nodes(
    up: Up, helm: Helm, kubectl: Kubectl
) -> None:
    """Without --reuse-values, as who has a values file upgrades, and Argo and Flux do."""
    home = up("--ephemeral", "--port", "0", "--nodes", "h100:2x8", kubelet=True)
    where = ("-n", "gpu-operator")
    for condition in ("create", "condition=Available"):
        kubectl("wait", *where, f"--for={condition}", "deploy/status-updater", "--timeout=60s")
    values = home.path / "values.yaml"
    values.write_text("runtimeClass: {enabled: false}\n")
    assert helm("get", "values", "gpu-operator", *where, "-o", "json") == (
        '{"runtimeClass":{"enabled":false}}\n'
    )

    def plain() -> None:
        helm("upgrade", "gpu-operator", str(CHART), *where, "-f", str(values))

    made = helm("get", "manifest", "gpu-operator", *where)
    plain()
    assert helm("get", "manifest", "gpu-operator", *where) == made

    for count in (4, 6):
        pools = {"topology": {"nodePools": {"default": {"gpuCount": count}}}}
        values.write_text(json.dumps({"runtimeClass": {"enabled": False}, **pools}))
        plain()
        gpus = f"jsonpath={{.status.allocatable.nvidia\\.com/gpu}}={count}"
        kubectl("wait", "node/node-0", f"--for={gpus}", "--timeout=60s")

    kubectl("rollout", "status", *where, "deploy/topology-server", "--timeout=60s")
    nodes = kubectl("get", "pods", *where, "-o", "jsonpath={.items[*].spec.nodeName}").split()
    assert set(nodes) == {"node-0"}

    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "inside"},
        "spec": {
            "nodeName": "node-0",
            "containers": [
                {
                    "name": "c",
                    "image": "busybox",
                    "command": ["sleep", "3600"],
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                }
            ],
        },
    }
    kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    kubectl("wait", "pod/inside", "--for=condition=Ready", "--timeout=60s")
    assert "Tesla" in kubectl("exec", "inside", "--", "nvidia-smi", "-L")
