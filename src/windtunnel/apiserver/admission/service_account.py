"""Pods run as a service account that exists, with its token mounted."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from windtunnel.apiserver.mint import Mint
from windtunnel.kinds.pod.sound import TOKEN_VOLUME
from windtunnel.machinery.admission import Act, Petition
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

    def __init__(self, store: Store, mint: Mint) -> None:
        self._store, self._mint = store, mint

    def concerns(self, act: Act) -> bool:
        """Creates of pods."""
        return act.operation == "CREATE" and act.resource == "pods" and not act.subresource

    def mutate(self, petition: Petition) -> None:
        """Name the account, mount its token, hand on its pull secrets."""
        pod = petition.new
        if pod is None or _MIRROR in (pod["metadata"].get("annotations") or {}):
            return
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        version = self._store.get("serviceaccounts", Key(petition.namespace, name))
        if version is None:
            raise petition.refusal(
                f"error looking up service account {petition.namespace}/{name}: "
                f'serviceaccount "{name}" not found',
            )
        account = _decode(version.body)
        mounts = spec.get("automountServiceAccountToken")
        if mounts is None:
            mounts = account.automount_service_account_token is not False
        if mounts:
            self._mount(petition, spec)
        if account.image_pull_secrets and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = account.image_pull_secrets

    def _mount(self, petition: Petition, spec: Tree) -> None:
        name = ""
        for volume in spec.get("volumes") or ():
            if volume.get("name", "").startswith(TOKEN_VOLUME):
                name = volume["name"]
        made = name or TOKEN_VOLUME + petition.once("token-volume", self._mint.suffix)
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
