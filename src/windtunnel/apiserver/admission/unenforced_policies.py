"""Says of policies in CEL that they are kept but not enforced, so that nobody relies on them."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind

_BINDINGS: Final = frozenset(
    {
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    }
)


class UnenforcedPolicies:
    """Warns whoever puts a policy into force."""

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates and updates of bindings of policies."""
        return kind.resource in _BINDINGS and operation != "DELETE"

    def mutate(self, attempt: Attempt) -> None:
        """Change nothing."""

    def judge(self, attempt: Attempt) -> None:
        """Warn, and refuse nothing."""
        attempt.call.warn(
            "policies in CEL are kept but not enforced here: what this binding would refuse is "
            "admitted"
        )
