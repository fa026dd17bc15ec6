"""How a node looks: its labels, annotations and versions, like k3s or like a plain kubelet.

Source: k3s v1.35 and kubelet v1.36.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Final

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.node.machine import Machine
from windtunnel.nodes.kubelet.settings import Settings

_VERSION: Final = {"k3s": "v1.36.3+k3s1", "plain": "v1.36.3"}
_RUNTIME: Final = {"k3s": "containerd://2.2.3-k3s1", "plain": "containerd://1.6.20"}
FEATURES: Final = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
"""What ``declaredFeatures`` lists."""


def labels(settings: Settings, machine: Machine) -> dict[str, str]:
    """Return the labels that the node writes on itself."""
    own = {
        "beta.kubernetes.io/arch": machine.architecture,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": settings.name,
        "kubernetes.io/os": "linux",
    }
    if settings.distribution == "k3s":
        own |= {
            "beta.kubernetes.io/instance-type": "k3s",
            "node.kubernetes.io/instance-type": "k3s",
            "node-role.kubernetes.io/control-plane": "true",
        }
    return {**own, **settings.labels}


def marks(settings: Settings) -> dict[str, str]:
    """Return the annotations that the node writes on itself."""
    own = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    if settings.distribution == "k3s":
        digest = hashlib.sha256(settings.name.encode()).digest()
        own |= {
            "alpha.kubernetes.io/provided-node-ip": settings.address,
            "k3s.io/hostname": settings.name,
            "k3s.io/internal-ip": settings.address,
            "k3s.io/node-args": json.dumps(["server"]),
            "k3s.io/node-config-hash": base64.b32encode(digest).decode(),
            "k3s.io/node-env": "{}",
        }
    return own


def spec(settings: Settings) -> Tree:
    """Return the node's spec at its registration."""
    made: Tree = {}
    if settings.distribution == "k3s":
        made |= {
            "podCIDR": settings.pod_cidr,
            "podCIDRs": [settings.pod_cidr],
            "providerID": f"k3s://{settings.name}",
        }
    if settings.taints:
        made["taints"] = [_taint(text) for text in settings.taints]
    return made


def node_details(settings: Settings, machine: Machine) -> Tree:
    """Return ``status.nodeInfo``."""
    made: Tree = {
        "architecture": machine.architecture,
        "bootID": machine.boot_id,
        "containerRuntimeVersion": settings.runtime_version or _RUNTIME[settings.distribution],
        "kernelVersion": machine.kernel_version,
        "kubeProxyVersion": "",
        "kubeletVersion": settings.version or _VERSION[settings.distribution],
        "machineID": machine.machine_id,
        "operatingSystem": "linux",
        "osImage": machine.os_image,
        "systemUUID": machine.system_uuid,
    }
    if machine.swap_bytes:
        made["swap"] = {"capacity": machine.swap_bytes}
    return made


def runtimes(settings: Settings) -> list[Tree]:
    """Return ``status.runtimeHandlers``; an old runtime tells of none."""
    if settings.distribution == "plain":
        return []
    able = {"recursiveReadOnlyMounts": False, "userNamespaces": False}
    return [{"name": name, "features": dict(able)} for name in ("", "runc")]


def _taint(text: str) -> Tree:
    """Read ``key=value:Effect``."""
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    made: Tree = {"key": key, "effect": effect}
    if value:
        made["value"] = value
    return made
