"""Who waits for devices when a node is switched on.

Pods are known at once, the plugins of their devices run as pods themselves and come seconds later.
A real kubelet refuses whoever comes first, and the pod is lost; here it may wait for a while.
"""

from __future__ import annotations

from collections.abc import Mapping

from windtunnel.machinery.quantity import to_int
from windtunnel.machinery.tree import Tree, dig


def must_wait(pod: Tree, known: Mapping[str, int], usable: Mapping[str, int]) -> bool:
    """Say whether a pod wants devices that the node had, and that nobody offers yet.

    Args:
        pod: Its tree is only read.
        known: The devices that there are or were, by resource.
        usable: Those that can be given or are.
    """
    for field in ("initContainers", "containers"):
        for container in dig(pod, "spec", field) or ():
            limits = dig(container, "resources", "limits") or {}
            for resource, amount in limits.items():
                if resource in known and usable.get(resource, 0) < to_int(amount):
                    return True
    return False
