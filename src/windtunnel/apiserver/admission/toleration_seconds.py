"""Pods tolerate a node that is not ready or unreachable for five minutes, unless they say else."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind

_SECONDS: Final = 300
_KEYS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds:
    """Adds the two tolerations."""

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates and updates of pods."""
        return kind.resource == "pods" and operation in ("CREATE", "UPDATE") and not subresource

    def mutate(self, attempt: Attempt) -> None:
        """Add what the pod does not say itself."""
        if attempt.new is None:
            return
        spec = attempt.new["spec"]
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

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""
