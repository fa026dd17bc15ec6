"""A claim in use is not deleted: its finalizer goes once no living pod mounts it.

Source: persistentvolumeclaim-protection controller of Kubernetes v1.36.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import ClaimView, PodView
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key

RESOURCE: Final = "persistentvolumeclaims"
FINALIZER: Final = "kubernetes.io/pvc-protection"


class ClaimProtection:
    """Lets go of deleted claims that nobody uses."""

    name = "persistentvolumeclaim-protection-controller"

    def __init__(self, client: Client, sources: Sources) -> None:
        self._client, self._sources = client, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue claims that are being deleted, again when a pod that used them ends."""

        def claim_changed(key: Key, before: ClaimView | None, after: ClaimView | None) -> None:
            if after is not None and _held(after):
                queue.add(key)

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            if before is not None and (after is None or after.finished):
                for name in before.claims:
                    queue.add(Key(key.namespace, name))

        self._sources.claims.on_change(claim_changed)
        self._sources.pods.on_change(pod_changed)

    def reconcile(self, key: Key) -> Result:
        """See to one claim."""
        claim = self._sources.claims.get(key)
        if claim is None or not _held(claim):
            return DONE
        for _, pod in self._sources.pods.by("namespace", key.namespace):
            if key.name in pod.claims and not pod.finished:
                return DONE
        kept = [name for name in claim.metadata.finalizers if name != FINALIZER]
        patch = {"metadata": {"uid": claim.metadata.uid, "finalizers": kept or None}}
        try:
            self._client.patch(RESOURCE, key, patch)
        except NotFound:
            return DONE
        return DONE


def _held(claim: ClaimView) -> bool:
    return claim.metadata.deleting and FINALIZER in claim.metadata.finalizers
