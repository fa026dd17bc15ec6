"""Pods tolerate a node that is not ready or unreachable for five minutes, unless they say else."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.admission import Act, Petition

_SECONDS: Final = 300
_KEYS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds:
    """Adds the two tolerations."""

    def concerns(self, act: Act) -> bool:
        """Creates and updates of pods."""
        return (
            act.resource == "pods" and act.operation in ("CREATE", "UPDATE") and not act.subresource
        )

    def mutate(self, petition: Petition) -> None:
        """Add what the pod does not say itself."""
        if petition.new is None:
            return
        spec = petition.new["spec"]
        tolerations = spec.get("tolerations") or []
        missing = [
            {
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": _SECONDS,
            }
            for key in _KEYS
            if not any(
                each.get("key", "") in ("", key) and each.get("effect", "") in ("", "NoExecute")
                for each in tolerations
            )
        ]
        if missing:
            spec["tolerations"] = [*tolerations, *missing]
