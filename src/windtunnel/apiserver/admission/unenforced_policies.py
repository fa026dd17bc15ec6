"""Says of policies in CEL that they are kept but not enforced, so that nobody relies on them."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.admission import Act, Petition

_BINDINGS: Final = frozenset(
    {
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    }
)


class UnenforcedPolicies:
    """Warns whoever puts a policy into force."""

    def concerns(self, act: Act) -> bool:
        """Creates and updates of bindings of policies."""
        return act.resource in _BINDINGS and act.operation != "DELETE"

    def judge(self, petition: Petition) -> None:
        """Warn, and refuse nothing."""
        petition.warn(
            "policies in CEL are kept but not enforced here: what this binding would refuse is "
            "admitted"
        )
