"""What every namespace gets: the ServiceAccount ``default`` and the cluster's root certificate.

Source: serviceaccount-controller and root-ca-certificate-publisher of Kubernetes v1.36.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.controllers.sources import ROOT_CA, Sources
from windtunnel.controllers.views import ConfigMapView, NamespaceView, PlainView
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.errors import AlreadyExists, ApiError
from windtunnel.machinery.tree import Key, Tree

DEFAULT: Final = "default"
_DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class ServiceAccounts:
    """Keeps a ServiceAccount ``default`` in every namespace."""

    name = "serviceaccount-controller"

    def __init__(self, client: Client, sources: Sources) -> None:
        self._client, self._sources = client, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue namespaces, and those that lose their account."""

        def account_changed(key: Key, before: PlainView | None, after: PlainView | None) -> None:
            if after is None and key.name == DEFAULT:
                queue.add(Key("", key.namespace))

        _queue_new_namespaces(self._sources, queue)
        self._sources.accounts.on_change(account_changed)

    def reconcile(self, key: Key) -> Result:
        """See to one namespace."""
        if not is_active(self._sources.namespaces.get(key)):
            return DONE
        if self._sources.accounts.get(Key(key.name, DEFAULT)) is None:
            account = {"metadata": {"name": DEFAULT, "namespace": key.name}}
            _create_unless_going(self._client, "serviceaccounts", "ServiceAccount", account)
        return DONE


class RootCertificates:
    """Keeps the root certificate in every namespace."""

    name = "root-ca-certificate-publisher"

    def __init__(self, client: Client, sources: Sources, certificate: str) -> None:
        self._client, self._sources, self._certificate = client, sources, certificate

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue namespaces, and those whose certificate changed."""

        def map_changed(
            key: Key, before: ConfigMapView | None, after: ConfigMapView | None
        ) -> None:
            if key.name == ROOT_CA:
                queue.add(Key("", key.namespace))

        _queue_new_namespaces(self._sources, queue)
        self._sources.root_cas.on_change(map_changed)

    def reconcile(self, key: Key) -> Result:
        """See to one namespace."""
        if not is_active(self._sources.namespaces.get(key)):
            return DONE
        data = {"ca.crt": self._certificate}
        annotations = {"kubernetes.io/description": _DESCRIPTION}
        where = Key(key.name, ROOT_CA)
        present = self._sources.root_cas.get(where)
        if present is None:
            metadata = {"name": ROOT_CA, "namespace": key.name, "annotations": annotations}
            tree = {"metadata": metadata, "data": data}
            _create_unless_going(self._client, "configmaps", "ConfigMap", tree)
        elif present.data != data or not annotations.keys() <= present.metadata.annotations.keys():
            gone: Tree = {name: None for name in present.data if name not in data}
            patch = {"metadata": {"annotations": annotations}, "data": {**gone, **data}}
            self._client.patch("configmaps", where, patch)
        return DONE


def is_active(namespace: NamespaceView | None) -> bool:
    """Whether the namespace is there and not being deleted."""
    return namespace is not None and not namespace.metadata.deleting


def _queue_new_namespaces(sources: Sources, queue: WorkQueue[Key]) -> None:
    def changed(key: Key, before: NamespaceView | None, after: NamespaceView | None) -> None:
        if after is not None and before is None:
            queue.add(key)

    sources.namespaces.on_change(changed)


def _create_unless_going(client: Client, resource: str, kind: str, tree: Tree) -> None:
    """Create the object; one that is there already, or a namespace that goes, is fine."""
    try:
        client.create(resource, {"apiVersion": "v1", "kind": kind, **tree})
    except AlreadyExists:
        return
    except ApiError as refusal:
        if refusal.code not in (403, 404):
            raise
