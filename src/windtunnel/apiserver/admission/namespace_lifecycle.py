"""Nothing is created in a namespace that is missing or going, and some namespaces never go."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.admission.chain import forbid
from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery.errors import Forbidden, NotFound
from windtunnel.machinery.tree import Key
from windtunnel.store import Store

_IMMORTAL: Final = ("default", "kube-system", "kube-public")


class NamespaceLifecycle:
    """Watches over namespaces and what is put into them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates in a namespace, and deletes of namespaces."""
        if kind.resource == "namespaces":
            return operation == "DELETE"
        return operation in ("CREATE", "UPDATE") and kind.namespaced

    def mutate(self, attempt: Attempt) -> None:
        """Refuse before any other plugin speaks."""
        if attempt.operation == "DELETE":
            if attempt.name in _IMMORTAL:
                raise forbid(attempt, "this namespace may not be deleted")
            return
        name = attempt.namespace
        namespace = self._store.get("namespaces", Key("", name))
        if namespace is None:
            raise NotFound.of("namespaces", "", name)
        if attempt.operation != "CREATE" or namespace.fields.get("status.phase") != "Terminating":
            return
        kind = attempt.kind
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {name} is being terminated",
            "field": "metadata.namespace",
        }
        raise Forbidden.of(
            kind.plural,
            kind.group,
            attempt.name,
            f"unable to create new content in namespace {name} because it is being terminated",
            [cause],
        )

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""
