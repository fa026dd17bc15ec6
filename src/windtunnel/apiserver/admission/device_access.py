"""Devices that others use are handed out only in namespaces that are marked for it.

Source: kube-apiserver v1.36, gate DRAAdminAccess.
"""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.rules.device_requests import asks_for_admin_access
from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.errors import Invalid
from windtunnel.machinery.tree import Key
from windtunnel.machinery.violations import forbidden
from windtunnel.store import Store

_GROUP: Final = "resource.k8s.io"
_LABEL: Final = "resource.kubernetes.io/admin-access"
_WHY: Final = (
    f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"
)


class DeviceAccess:
    """Judges what claims ask for before the rest of them is looked at."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, act: Act) -> bool:
        """Writes of claims and their templates."""
        return (
            act.group == _GROUP
            and act.plural in ("resourceclaims", "resourceclaimtemplates")
            and act.operation in ("CREATE", "UPDATE")
            and not act.subresource
        )

    def mutate(self, petition: Petition) -> None:
        """Refuse admin access where the namespace does not grant it."""
        claim = petition.new or {}
        if petition.act.plural == "resourceclaimtemplates":
            claim = claim.get("spec") or {}
        fields = asks_for_admin_access(claim)
        if not fields:
            return
        namespace = self._store.get("namespaces", Key("", petition.namespace))
        if namespace is None or namespace.labels.get(_LABEL) != "true":
            kind = petition.act.spoken.kind
            raise Invalid(kind, _GROUP, petition.name, [forbidden(fields[0], _WHY)])
