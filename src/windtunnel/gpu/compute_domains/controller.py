"""The controller of compute domains: reads a domain and its claims, writes what differs.

Source: fake-gpu-operator 0.2 (compute-domain-controller).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from windtunnel.client import Change, Client
from windtunnel.gpu.compute_domains.domain import (
    FINALIZER,
    MEMBER,
    owns,
    status_of,
    template_name,
    template_of,
)
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree, dig

COMPONENT: Final = "compute-domain-controller"
_DOMAINS: Final = "computedomains.resource.nvidia.com"
_TEMPLATES: Final = "resourceclaimtemplates.resource.k8s.io"
_CLAIMS: Final = "resourceclaims.resource.k8s.io"


class ComputeDomains:
    """Keeps templates, finalizers and status of compute domains."""

    name = COMPONENT

    def __init__(self, client: Client, loop: Loop) -> None:
        self._client = client
        self._queue = Worker(loop, self).queue
        self._pools: dict[Key, tuple[Key, tuple[str, ...]]] = {}
        """By claim: the domain it belongs to, and the pools its devices are of."""
        self._stops: list[Callable[[], None]] = []

    def start(self) -> None:
        """Begin to watch.

        Raises:
            NotFound: the cluster does not know compute domains.
        """
        self._stops = [
            self._client.watch(_CLAIMS, self._claim_changed),
            self._client.watch(_DOMAINS, self._domain_changed),
        ]

    def stop(self) -> None:
        """Watch nothing any more."""
        for stop in self._stops:
            stop()
        self._stops = []

    def reconcile(self, key: Key) -> Result:
        """Bring one domain in line."""
        domain = self._client.get(_DOMAINS, key)
        if domain is None:
            return DONE
        finalizers: list[str] = domain["metadata"].get("finalizers") or []
        if domain["metadata"].get("deletionTimestamp"):
            self._take_back(domain)
            left = [name for name in finalizers if name != FINALIZER]
            if left != finalizers:
                self._finalize(_DOMAINS, domain, left)
            return DONE
        if FINALIZER not in finalizers:
            self._finalize(_DOMAINS, domain, [*finalizers, FINALIZER])
        if self._client.get(_TEMPLATES, Key(key.namespace, template_name(domain))) is None:
            self._client.create(_TEMPLATES, template_of(domain))
        members = [pools for of, pools in self._pools.values() if of == key]
        status = status_of(domain, (pool for pools in members for pool in pools))
        if domain.get("status") != status:
            patch = {"status": {"nodes": None, **status}}
            self._client.patch(_DOMAINS, key, patch, subresource="status")
        return DONE

    def _take_back(self, domain: Tree) -> None:
        """Delete the template of a domain that goes, unless it is somebody else's."""
        key = Key(domain["metadata"]["namespace"], template_name(domain))
        template = self._client.get(_TEMPLATES, key)
        if template is None or not owns(domain, template):
            return
        finalizers: list[str] = template["metadata"].get("finalizers") or []
        left = [name for name in finalizers if name != FINALIZER]
        with suppress(NotFound):
            if left != finalizers:
                self._finalize(_TEMPLATES, template, left)
            self._client.delete(_TEMPLATES, key)

    def _finalize(self, resource: str, tree: Tree, finalizers: list[str]) -> None:
        """Replace the finalizers, unless the object has changed meanwhile."""
        meta = tree["metadata"]
        patch = {"finalizers": finalizers, "resourceVersion": meta["resourceVersion"]}
        with suppress(NotFound):
            key = Key(meta["namespace"], meta["name"])
            self._client.patch(resource, key, {"metadata": patch})

    def _domain_changed(self, change: Change) -> None:
        if change.type not in ("SYNCED", "DELETED"):
            self._queue.add(change.key)

    def _claim_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        known = self._pools.pop(change.key, None)
        if known is not None:
            self._queue.add(known[0])
        if change.type == "DELETED":
            return
        claim = change.tree()
        domain = dig(claim, "metadata", "labels", MEMBER)
        if domain:
            key = Key(change.key.namespace, domain)
            results = dig(claim, "status", "allocation", "devices", "results") or ()
            self._pools[change.key] = (key, tuple(result["pool"] for result in results))
            self._queue.add(key)
