"""The lab on a real kubelet: our chart and our image on the real Kubernetes of ``../shared``."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e import lab, programs
from windtunnel.gpu.chart import CHART, NAMESPACE, RELEASE

pytestmark = [
    pytest.mark.real,
    pytest.mark.root,
    pytest.mark.go,
    pytest.mark.shared,
    pytest.mark.timeout(900),
]

ROOT = Path(__file__).resolve().parents[2]
BINARIES = (
    "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kwok", "cni",
    "kubectl", "helm",
)  # fmt: skip
TOOLS = ("containerd", "ctr", "runc", "iptables", "busybox", "openssl", "ldd")
NODE = "real-0"
LEFT_ON_THE_HOST = Path("/var/lib/runai")
REPOSITORY = "windtunnel.dev/run-ai/fake-gpu-operator"
VERSION = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
COMPONENTS = {
    "devicePlugin": "device-plugin",
    "statusUpdater": "status-updater",
    "topologyServer": "topology-server",
    "statusExporter": "status-exporter",
    "kwokGpuDevicePlugin": "kwok-gpu-device-plugin",
}
"""Sections of the values, and the agent that the image of each starts; of what runs in the lab."""
PATIENCE = 180
INSTALL = ("install", RELEASE, str(CHART), "-n", NAMESPACE, "--create-namespace")
ALL_PARTS = (
    "draPlugin.enabled", "kwokDraPlugin.enabled", "computeDomainDraPlugin.enabled",
    "kwokComputeDomainDraPlugin.enabled", "statusExporter.nodeResourceTopology.enabled",
    "statusExporter.podResources.enabled", "statusUpdater.runaiIntegration.enabled",
)  # fmt: skip


@dataclass
class RealNode:
    """A real cluster of one node, which has our image."""

    folder: Path
    environment: dict[str, str]

    def run(self, program: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(program), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done

    def kubectl(self, *arguments: str) -> str:
        return self.run(programs.kubectl(), *arguments).stdout

    def helm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(programs.helm(), *arguments)

    def values(self, compat: str) -> Path:
        """Write values for nodes whose pods reach the API server by their node's network only.

        Ports are unusual ones: other clusters on the machine may use the usual ones.
        """
        local: dict[str, Any] = {s: {"image": {"pullPolicy": "Never"}} for s in COMPONENTS}
        local["statusExporter"] |= {"port": 29400, "kwok": {"port": 29401}}
        # Containers with GPUs are on the pods' bridge, where the host has the first address.
        local["topologyServer"] |= {"port": 28080, "url": "http://10.244.0.1:28080"}
        tree = local | {
            "compat": compat,
            "hostNetwork": True,
            "apiServer": {"host": "127.0.0.1", "port": self.environment["API_PORT"]},
            "runtimeClass": {"enabled": False},
            "ubuntu": {"image": {"repository": f"{REPOSITORY}/device-plugin", "tag": VERSION}},
        }
        path = self.folder / f"values{compat}.yaml"
        path.write_text(yaml.safe_dump(tree))
        return path


@pytest.fixture
def node(tmp_path: Path) -> Iterator[RealNode]:
    """A real control plane, a real kubelet, and the real kwok; one at a time on a machine."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for a kubelet of this machine")
    script = programs.realkube()
    for tool in TOOLS:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    home = programs.built("kwok").parents[1]
    for binary in BINARIES:
        programs.built(binary)

    foreign = LEFT_ON_THE_HOST.exists()
    realkube = [sys.executable, str(script)]
    with (home / "in-use").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        up = subprocess.run([*realkube, "up", "--node"], capture_output=True, text=True)
        if "already up" in up.stderr:
            pytest.skip("needs the real cluster of this machine, which somebody else has started")
        try:
            if up.returncode != 0:
                pytest.skip(
                    f"needs a real kubelet, which does not start here: {_last_line(up.stderr)}"
                )
            yield from _furnished(realkube, tmp_path, home / "admin.kubeconfig")
        finally:
            subprocess.run([*realkube, "down"], check=True, capture_output=True)
            if not foreign:
                shutil.rmtree(LEFT_ON_THE_HOST, ignore_errors=True)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it says nothing"])[-1]


def _furnished(realkube: list[str], folder: Path, kubeconfig: Path) -> Iterator[RealNode]:
    image = folder / "image"
    subprocess.run([sys.executable, str(ROOT / "images" / "rootfs.py"), str(image)], check=True)
    for component in COMPONENTS.values():
        tag = f"{REPOSITORY}/{component}:{VERSION}"
        load = [*realkube, "image", tag, str(image), "--", f"/bin/{component}"]
        subprocess.run(load, check=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = kept | {"HOME": str(folder), "KUBECONFIG": str(kubeconfig)}
    cluster = RealNode(folder, environment)
    server = cluster.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
    environment["API_PORT"] = server.rpartition(":")[2]
    cluster.kubectl("label", "node", NODE, "run.ai/simulated-gpu-node-pool=default")
    with (folder / "kwok.log").open("w") as log:
        kwok = subprocess.Popen(
            [str(programs.built("kwok")), "--kubeconfig", str(kubeconfig),
             "--config", str(lab.WALK.with_name("kwok-stages.yaml")), "--node-ip", "10.0.0.1",
             "--node-lease-duration-seconds", "40",
             "--manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake"],
            stdout=log,
            stderr=log,
        )  # fmt: skip
        try:
            yield cluster
        finally:
            kwok.terminate()
            kwok.wait(timeout=20)


def test_the_lab_is_walked_on_a_real_kubelet(node: RealNode) -> None:
    """One test, for the cluster takes a minute to make: as of old, live, and with all parts on."""
    for compat in ("0.2", ""):
        lab.judge(_walk(node, compat), NODE)

    switched = [word for part in ALL_PARTS for word in ("--set", f"{part}=true")]
    assert node.helm(*INSTALL, *switched).stderr == ""


def _walk(node: RealNode, compat: str) -> Path:
    values = node.values(compat)
    assert node.helm(*INSTALL, "-f", str(values)).stderr == ""
    out = node.folder / f"lab{compat}"
    live = compat == ""
    try:
        lab.walk(out, node.environment, live=live, values=values, patience=PATIENCE)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{_told(node)}") from None
    # In this order: the pods of a played node go only as long as there is the node.
    node.kubectl("delete", "namespace", "fake-lab")
    node.kubectl("delete", "node", "gpu-a")
    node.helm("uninstall", RELEASE, "-n", NAMESPACE)
    node.kubectl("delete", "namespace", NAMESPACE)
    return out


def _told(node: RealNode) -> str:
    pods = node.kubectl("get", "pods", "-A", "-o", "wide")
    return pods + node.kubectl("get", "events", "-A", "--field-selector", "type=Warning")
