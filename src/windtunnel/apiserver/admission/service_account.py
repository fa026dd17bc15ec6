"""Pods run as a service account that exists, with its token mounted."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from windtunnel.apiserver.admission.chain import forbid
from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.pod.sound import TOKEN_VOLUME
from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Store

_MIRROR: Final = "kubernetes.io/config.mirror"
_TOKEN_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_SECONDS: Final = 3607
_CONTAINERS: Final = ("initContainers", "containers")


class _Account(msgspec.Struct, rename="camel"):
    automount_service_account_token: bool | None = None
    image_pull_secrets: list[dict[str, Any]] | None = None


_decode = msgspec.json.Decoder(_Account).decode


def _volume(name: str) -> Tree:
    return {
        "name": name,
        "projected": {
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
                {
                    "configMap": {
                        "name": "kube-root-ca.crt",
                        "items": [{"key": "ca.crt", "path": "ca.crt"}],
                    }
                },
                {
                    "downwardAPI": {
                        "items": [
                            {
                                "path": "namespace",
                                "fieldRef": {
                                    "apiVersion": "v1",
                                    "fieldPath": "metadata.namespace",
                                },
                            }
                        ]
                    }
                },
            ],
            "defaultMode": 420,
        },
    }


class ServiceAccount:
    """Gives pods their account and its token."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates of pods."""
        return operation == "CREATE" and kind.resource == "pods" and not subresource

    def mutate(self, attempt: Attempt) -> None:
        """Name the account, mount its token, hand on its pull secrets."""
        pod = attempt.new
        if pod is None or _MIRROR in (pod["metadata"].get("annotations") or {}):
            return
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        version = self._store.get("serviceaccounts", Key(attempt.namespace, name))
        if version is None:
            raise forbid(
                attempt,
                f"error looking up service account {attempt.namespace}/{name}: "
                f'serviceaccount "{name}" not found',
            )
        account = _decode(version.body)
        mounts = spec.get("automountServiceAccountToken")
        if mounts is None:
            mounts = account.automount_service_account_token is not False
        if mounts:
            self._mount(attempt, spec)
        if account.image_pull_secrets and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = account.image_pull_secrets

    def _mount(self, attempt: Attempt, spec: Tree) -> None:
        name = ""
        for volume in spec.get("volumes") or ():
            if volume.get("name", "").startswith(TOKEN_VOLUME):
                name = volume["name"]
        made = name or TOKEN_VOLUME + attempt.call.suffix("token-volume")
        used = False
        for field in _CONTAINERS:
            for container in spec.get(field) or ():
                mounts = container.get("volumeMounts") or []
                if any(mount.get("mountPath") == _TOKEN_PATH for mount in mounts):
                    continue
                mount = {"name": made, "readOnly": True, "mountPath": _TOKEN_PATH}
                container["volumeMounts"] = [*mounts, mount]
                used = True
        if used and not name:
            spec["volumes"] = [*(spec.get("volumes") or ()), _volume(made)]

    def judge(self, attempt: Attempt) -> None:
        """Nothing is left to judge."""
