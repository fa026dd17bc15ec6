"""The conditions of a node that its kubelet owns.

Source: kubelet v1.36. A time changes only with its status; a heartbeat with every write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from windtunnel.machinery.tree import Tree

_GOOD: Final = (
    (
        "MemoryPressure", "False", "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)  # fmt: skip
ISOLATED: Final = "ContainersIsolated"
"""False where containers have no namespaces and no roots of their own."""
REACHABLE: Final = "DevicePluginsReachable"
"""False where plugins find no socket to register at."""
FLAWS: Final = {
    ISOLATED: "ContainersNotIsolated",
    REACHABLE: "DevicePluginsUnreachable",
}
"""Conditions that no kubelet has, shown only where they are false: type -> reason."""


def node_conditions(
    old: Iterable[Tree], now: str, trouble: str = "", flaws: Mapping[str, str] | None = None
) -> list[Tree]:
    """Return the four conditions in their order; conditions of others come first.

    Args:
        old: What the node has.
        now: The time.
        trouble: Why the node is not ready; empty where it is.
        flaws: What the node cannot do: message by type of condition.
    """
    known = {each.get("type"): each for each in old}
    names = {*FLAWS, *(name for name, *_ in _GOOD)}
    made = [each for name, each in known.items() if name not in names]
    lacking = [(name, "False", FLAWS[name], why) for name, why in (flaws or {}).items()]
    for name, status, reason, message in (*lacking, *_GOOD):
        if name == "Ready" and trouble:
            status, reason, message = "False", "KubeletNotReady", trouble
        before = known.get(name)
        since = now
        if before is not None and before.get("status") == status:
            since = before.get("lastTransitionTime") or now
        made.append(
            {
                "type": name,
                "status": status,
                "lastHeartbeatTime": now,
                "lastTransitionTime": since,
                "reason": reason,
                "message": message,
            }
        )
    return made


def same_conditions(left: Iterable[Tree], right: Iterable[Tree]) -> bool:
    """Say whether two lists say the same, whenever they say it."""

    def told(conditions: Iterable[Tree]) -> list[tuple[str, ...]]:
        return [
            tuple(str(each.get(key) or "") for key in ("type", "status", "reason", "message"))
            for each in conditions
        ]

    return told(left) == told(right)
