"""Nothing is created in a namespace that is missing or going, and some namespaces never go."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.errors import Forbidden, NotFound
from windtunnel.machinery.tree import Key
from windtunnel.store import Store

_IMMORTAL: Final = ("default", "kube-system", "kube-public")


class NamespaceLifecycle:
    """Watches over namespaces and what is put into them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, act: Act) -> bool:
        """Creates in a namespace, and deletes of namespaces."""
        if act.resource == "namespaces":
            return act.operation == "DELETE"
        return act.operation in ("CREATE", "UPDATE") and act.namespaced

    def mutate(self, petition: Petition) -> None:
        """Refuse before any other plugin speaks."""
        if petition.act.operation == "DELETE":
            if petition.name in _IMMORTAL:
                raise petition.refusal("this namespace may not be deleted")
            return
        name = petition.namespace
        namespace = self._store.get("namespaces", Key("", name))
        if namespace is None:
            raise NotFound.of("namespaces", "", name)
        if (
            petition.act.operation != "CREATE"
            or namespace.fields.get("status.phase") != "Terminating"
        ):
            return
        act = petition.act
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {name} is being terminated",
            "field": "metadata.namespace",
        }
        raise Forbidden.of(
            act.plural,
            act.group,
            petition.name,
            f"unable to create new content in namespace {name} because it is being terminated",
            [cause],
        )
