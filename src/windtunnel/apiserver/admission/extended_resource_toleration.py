"""A pod that asks for an extended resource tolerates the taint of that name (off by default)."""

from __future__ import annotations

from windtunnel.kinds.rules.resource_names import is_extended
from windtunnel.machinery.admission import Act, Petition


class ExtendedResourceToleration:
    """Adds a toleration for each extended resource that a pod requests."""

    def concerns(self, act: Act) -> bool:
        """Creates and updates of pods."""
        return (
            act.resource == "pods" and act.operation in ("CREATE", "UPDATE") and not act.subresource
        )

    def mutate(self, petition: Petition) -> None:
        """Add the tolerations, in order of the resources' names."""
        if petition.new is None:
            return
        spec = petition.new["spec"]
        asked = {
            name
            for field in ("containers", "initContainers")
            for container in spec.get(field) or ()
            for name in (container.get("resources") or {}).get("requests") or ()
            if is_extended(name)
        }
        tolerations = spec.get("tolerations") or []
        for name in sorted(asked):
            toleration = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
            if toleration not in tolerations:
                tolerations = [*tolerations, toleration]
        if tolerations:
            spec["tolerations"] = tolerations
