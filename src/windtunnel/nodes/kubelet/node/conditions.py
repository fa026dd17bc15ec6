"""The conditions of a node that its kubelet owns.

Source: kubelet v1.36. A time changes only with its status; a heartbeat with every write.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def node_conditions(old: Iterable[Tree], now: str, trouble: str = "") -> list[Tree]:
    """Return the four conditions in their order; conditions of others come first.

    Args:
        old: What the node has.
        now: The time.
        trouble: Why the node is not ready; empty where it is.
    """
    known = {each.get("type"): each for each in old}
    names = {name for name, *_ in _GOOD}
    made = [each for name, each in known.items() if name not in names]
    for name, status, reason, message in _GOOD:
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
