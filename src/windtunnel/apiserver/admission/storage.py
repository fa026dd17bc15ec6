"""Claims get the default storage class; claims and volumes in use are protected by finalizers."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery.tree import dig
from windtunnel.store import Store

_PROTECTORS: Final = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}
_CLASSES: Final = "storageclasses.storage.k8s.io"
_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"


class DefaultStorageClass:
    """Names the newest default class in claims that name none."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates of claims."""
        return operation == "CREATE" and kind.resource == "persistentvolumeclaims"

    def mutate(self, attempt: Attempt) -> None:
        """Set the class."""
        spec = dig(attempt.new, "spec")
        if not isinstance(spec, dict) or spec.get("storageClassName") is not None:
            return
        defaults = []
        for version in self._store.list(_CLASSES):
            metadata = version.tree()["metadata"]
            if (metadata.get("annotations") or {}).get(_DEFAULT) == "true":
                defaults.append((metadata["creationTimestamp"], version.key.name))
        if defaults:
            newest = max(stamp for stamp, _ in defaults)
            spec["storageClassName"] = min(name for stamp, name in defaults if stamp == newest)

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""


class StorageProtection:
    """Gives claims and volumes their finalizer."""

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates of what is protected."""
        return operation == "CREATE" and kind.resource in _PROTECTORS

    def mutate(self, attempt: Attempt) -> None:
        """Add the finalizer."""
        if attempt.new is None:
            return
        finalizers = attempt.new["metadata"].setdefault("finalizers", [])
        protector = _PROTECTORS[attempt.kind.resource]
        if protector not in finalizers:
            finalizers.append(protector)

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""
