"""A node starts with the taint of one that is not ready, until a controller knows better."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.admission import Act, Petition

_KEY: Final = "node.kubernetes.io/not-ready"


class TaintNodesByCondition:
    """Taints nodes at creation."""

    def concerns(self, act: Act) -> bool:
        """Creates of nodes."""
        return act.operation == "CREATE" and act.resource == "nodes"

    def mutate(self, petition: Petition) -> None:
        """Add the taint, where it is missing."""
        if petition.new is None:
            return
        spec = petition.new.setdefault("spec", {})
        taints = spec.setdefault("taints", [])
        if not any(t.get("key") == _KEY and t.get("effect") == "NoSchedule" for t in taints):
            taints.append({"key": _KEY, "effect": "NoSchedule"})
