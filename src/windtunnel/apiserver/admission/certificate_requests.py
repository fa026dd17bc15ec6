"""A certificate signing request names who made it, whatever its body says."""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.access.certificatesigningrequests import set_requester
from windtunnel.machinery.admission import Act, Petition

_RESOURCE: Final = "certificatesigningrequests.certificates.k8s.io"


class CertificateRequests:
    """Writes the requester into new requests."""

    def concerns(self, act: Act) -> bool:
        """Creates of requests."""
        return act.operation == "CREATE" and act.resource == _RESOURCE

    def mutate(self, petition: Petition) -> None:
        """Name the user who asks."""
        if petition.new is not None:
            user = petition.user
            set_requester(petition.new, user.name, user.uid, user.groups, user.extra)
