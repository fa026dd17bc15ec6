"""Whether a container that has exited is started again.

Source: kubelet v1.36. A container's own rules come first, the first that matches decides; then its
own policy; then its pod's. An init container of a pod that restarts always is only tried again when
it fails. Nothing of a pod that was deleted starts again.
"""

from __future__ import annotations

from enum import Enum

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_spec import deleting, is_init, is_sidecar


class Aftermath(Enum):
    """What follows the end of a container."""

    STAY = "stay"
    RESTART = "restart"
    RESTART_ALL = "restart all"


def after_exit(pod: Tree, container: Tree, exit_code: int) -> Aftermath:
    """Judge one container that has exited with this code."""
    return Aftermath.STAY if deleting(pod) else by_rule(pod, container, exit_code)


def by_rule(pod: Tree, container: Tree, exit_code: int) -> Aftermath:
    """Judge it by what the pod's spec says alone, as its phase is told."""
    for rule in container.get("restartPolicyRules") or ():
        if _matches(rule, exit_code):
            everything = rule.get("action") == "RestartAllContainers"
            return Aftermath.RESTART_ALL if everything else Aftermath.RESTART
    return Aftermath.RESTART if _by_policy(pod, container, exit_code) else Aftermath.STAY


def may_restart(pod: Tree, container: Tree, exit_code: int) -> bool:
    """Say whether the container runs again after this exit."""
    return after_exit(pod, container, exit_code) is not Aftermath.STAY


def _by_policy(pod: Tree, container: Tree, exit_code: int) -> bool:
    policy = container.get("restartPolicy") or pod["spec"].get("restartPolicy") or "Always"
    if policy == "Always" and is_init(pod, container["name"]) and not is_sidecar(container):
        policy = "OnFailure"
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _matches(rule: Tree, exit_code: int) -> bool:
    codes = rule.get("exitCodes") or {}
    listed = exit_code in (codes.get("values") or ())
    return listed if codes.get("operator") == "In" else not listed
