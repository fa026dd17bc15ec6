"""Where what volumes hold comes from: the API, asked from whichever thread makes the volume."""

from __future__ import annotations

import threading
from typing import Protocol

from windtunnel.client.http import HttpClient
from windtunnel.machinery.errors import ApiError, refusal
from windtunnel.machinery.tree import Key, Tree, decode, encode
from windtunnel.nodes.kubelet.volumes.failures import VolumeMissing


class VolumeSources(Protocol):
    """Objects that volumes are made of; may be asked from any thread, and may block."""

    def config_map(self, key: Key) -> Tree | None:
        """Return a ConfigMap, None where there is none."""
        ...

    def secret(self, key: Key) -> Tree | None:
        """Return a Secret, None where there is none."""
        ...

    def claim(self, key: Key) -> Tree | None:
        """Return a PersistentVolumeClaim, None where there is none."""
        ...

    def token(self, account: Key, spec: Tree) -> Tree:
        """Return the status of a TokenRequest for a service account.

        Raises:
            VolumeMissing: it was refused.
        """
        ...


class ApiSources:
    """Asks the API server, one question at a time.

    Args:
        client: For nobody else's use.
    """

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._lock = threading.Lock()

    def config_map(self, key: Key) -> Tree | None:
        """Return a ConfigMap, None where there is none."""
        return self._get("configmaps", key)

    def secret(self, key: Key) -> Tree | None:
        """Return a Secret, None where there is none."""
        return self._get("secrets", key)

    def claim(self, key: Key) -> Tree | None:
        """Return a PersistentVolumeClaim, None where there is none."""
        return self._get("persistentvolumeclaims", key)

    def token(self, account: Key, spec: Tree) -> Tree:
        """Return the status of a TokenRequest for a service account."""
        path = f"/api/v1/namespaces/{account.namespace}/serviceaccounts/{account.name}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        with self._lock:
            status, body = self._client.ask("POST", path, encode(request))
        answer: Tree = decode(body)
        if status >= 300:
            raise VolumeMissing(f"failed to fetch token: {refusal(answer)}")
        made: Tree = answer["status"]
        return made

    def _get(self, resource: str, key: Key) -> Tree | None:
        with self._lock:
            try:
                return self._client.get(resource, key)
            except ApiError as refused:
                raise VolumeMissing(str(refused)) from None
