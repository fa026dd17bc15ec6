"""What a compute domain comes to: pure.

Source: fake-gpu-operator 0.2 (compute-domain-controller).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.devices import CHANNEL_DRIVER
from windtunnel.machinery.tree import Tree, dig

FINALIZER: Final = "computedomain.resource.nvidia.com/finalizer"
MEMBER: Final = "nvidia.com/computeDomain"
"""The label of a claim that names the domain it belongs to."""
_API_VERSION: Final = "resource.nvidia.com/v1beta1"


def template_name(domain: Tree) -> str:
    """Return the name of the template of a domain's claims."""
    named = dig(domain, "spec", "channel", "resourceClaimTemplate", "name")
    return str(named or domain["metadata"]["name"])


def template_of(domain: Tree) -> Tree:
    """Return the template of a domain's claims."""
    meta = domain["metadata"]
    name, uid = meta["name"], meta["uid"]
    request = {
        "name": "channel",
        "exactly": {
            "deviceClassName": "compute-domain-default-channel.nvidia.com",
            "allocationMode": "ExactCount",
            "count": 1,
        },
    }
    parameters = {
        "apiVersion": _API_VERSION,
        "kind": "ComputeDomainChannelConfig",
        "allocationMode": dig(domain, "spec", "channel", "allocationMode") or "Single",
        "domainID": uid,
    }
    owner = {
        "apiVersion": _API_VERSION,
        "kind": "ComputeDomain",
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": template_name(domain),
            "namespace": meta["namespace"],
            "labels": {
                "resource.nvidia.com/computeDomain": name,
                "resource.nvidia.com/computeDomainTarget": "workload",
            },
            "finalizers": [FINALIZER],
            "ownerReferences": [owner],
        },
        "spec": {
            "metadata": {"labels": {MEMBER: name}},
            "spec": {
                "devices": {
                    "requests": [request],
                    "config": [{"opaque": {"driver": CHANNEL_DRIVER, "parameters": parameters}}],
                }
            },
        },
    }


def owns(domain: Tree, template: Tree) -> bool:
    """Say whether a template was made for this domain."""
    uid = domain["metadata"]["uid"]
    owners = template["metadata"].get("ownerReferences") or ()
    return any(owner.get("uid") == uid for owner in owners)


def status_of(domain: Tree, pools: Iterable[str]) -> Tree:
    """Return a domain's status: which nodes have joined, and whether they are enough."""
    nodes = sorted(set(pools))
    wanted = dig(domain, "spec", "numNodes") or 0
    status: Tree = {"status": "Ready" if not wanted or len(nodes) >= wanted else "NotReady"}
    if nodes:
        status["nodes"] = [
            {"name": name, "ipAddress": "", "cliqueID": "", "index": 0, "status": "Ready"}
            for name in nodes
        ]
    return status
