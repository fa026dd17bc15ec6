"""A node starts with the taint of one that is not ready, until a controller knows better."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind

_KEY: Final = "node.kubernetes.io/not-ready"


class TaintNodesByCondition:
    """Taints nodes at creation."""

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates of nodes."""
        return operation == "CREATE" and kind.resource == "nodes"

    def mutate(self, attempt: Attempt) -> None:
        """Add the taint, where it is missing."""
        if attempt.new is None:
            return
        spec = attempt.new.setdefault("spec", {})
        taints = spec.setdefault("taints", [])
        if not any(t.get("key") == _KEY and t.get("effect") == "NoSchedule" for t in taints):
            taints.append({"key": _KEY, "effect": "NoSchedule"})

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""
