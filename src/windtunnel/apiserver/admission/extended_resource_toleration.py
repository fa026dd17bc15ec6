"""A pod that asks for an extended resource tolerates the taint of that name (off by default)."""

from __future__ import annotations

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.rules.resource_names import is_extended
from windtunnel.kinds.served.kind import Kind


class ExtendedResourceToleration:
    """Adds a toleration for each extended resource that a pod requests."""

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates and updates of pods."""
        return kind.resource == "pods" and operation in ("CREATE", "UPDATE") and not subresource

    def mutate(self, attempt: Attempt) -> None:
        """Add the tolerations, in order of the resources' names."""
        if attempt.new is None:
            return
        spec = attempt.new["spec"]
        asked = {
            name
            for field in ("containers", "initContainers")
            for container in spec.get(field) or ()
            for name in (container.get("resources") or {}).get("requests") or ()
            if is_extended(name)
        }
        tolerations = spec.get("tolerations") or []
        for name in sorted(asked):
            toleration = {"key": name, "operator": "Exists"}
            if toleration not in tolerations:
                tolerations = [*tolerations, toleration]
        if tolerations:
            spec["tolerations"] = tolerations

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""
