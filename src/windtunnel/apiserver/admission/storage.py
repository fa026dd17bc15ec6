"""Claims get the default storage class; claims and volumes in use are protected by finalizers."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.admission import Act, Petition
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

    def concerns(self, act: Act) -> bool:
        """Creates of claims."""
        return act.operation == "CREATE" and act.resource == "persistentvolumeclaims"

    def mutate(self, petition: Petition) -> None:
        """Set the class."""
        spec = dig(petition.new, "spec")
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


class StorageProtection:
    """Gives claims and volumes their finalizer."""

    def concerns(self, act: Act) -> bool:
        """Creates of what is protected."""
        return act.operation == "CREATE" and act.resource in _PROTECTORS

    def mutate(self, petition: Petition) -> None:
        """Add the finalizer."""
        if petition.new is None:
            return
        finalizers = petition.new["metadata"].setdefault("finalizers", [])
        protector = _PROTECTORS[petition.act.resource]
        if protector not in finalizers:
            finalizers.append(protector)
