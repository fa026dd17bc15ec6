"""Why a volume claim waits: an event for each that no storage class will ever serve.

Source: persistentvolume-controller of Kubernetes v1.36, of which this is the smaller half: nothing
here provides volumes, or binds those that somebody made.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import ClaimView
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.tree import Key

CLASSES: Final = "storageclasses.storage.k8s.io"
_NO_CLASS: Final = "no persistent volumes available for this claim and no storage class is set"


class ClaimBinding:
    """Says of claims that nothing serves them."""

    name = "persistentvolume-binder-controller"

    def __init__(self, client: Client, sources: Sources, recorder: Recorder) -> None:
        self._client, self._sources, self._recorder = client, sources, recorder

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue claims as they appear and as what they ask for changes."""

        def changed(key: Key, before: ClaimView | None, after: ClaimView | None) -> None:
            if after is not None and (before is None or before.spec != after.spec):
                queue.add(key)

        self._sources.claims.on_change(changed)

    def reconcile(self, key: Key) -> Result:
        """See to one claim."""
        claim = self._sources.claims.get(key)
        if claim is None or claim.metadata.deleting or claim.spec.volume_name:
            return DONE
        subject = Subject("PersistentVolumeClaim", key.name, key.namespace, claim.metadata.uid)
        name = claim.spec.storage_class_name
        if not name:
            self._recorder.normal(subject, "FailedBinding", _NO_CLASS)
        elif self._client.get(CLASSES, Key("", name)) is None:
            text = f'storageclass.storage.k8s.io "{name}" not found'
            self._recorder.warning(subject, "ProvisioningFailed", text)
        return DONE
