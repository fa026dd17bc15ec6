"""The cluster's own certificates: one authority and those whom it signs for.

They are the server, the administrator, the server as kubelets know it, a node, and the key that
signs tokens. What exists is used again, so that a kubeconfig outlives a restart; what is missing,
unreadable or near its end is made anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from windtunnel.errors import DataError
from windtunnel.home.files import write_private
from windtunnel.home.signing import (
    RENEW_BEFORE,
    VALID,
    Authority,
    key_of,
    key_pem,
    new_key,
    public_half,
)

__all__ = ["RENEW_BEFORE", "VALID", "Keyring", "NodeKeys", "provide", "provide_node"]

SERVER_NAMES: Final = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_MASTERS: Final = "system:masters"


@dataclass(frozen=True, slots=True)
class Keyring:
    """Paths of the PEM files of one cluster; a key lies beside each certificate."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that signs the others; clients are known by it."""
        return self.folder / "ca.crt"

    @property
    def server(self) -> Path:
        """The API server's certificate."""
        return self.folder / "server.crt"

    @property
    def server_key(self) -> Path:
        """The API server's key."""
        return self.folder / "server.key"

    @property
    def admin(self) -> Path:
        """The certificate of user ``kubernetes-admin`` in group ``system:masters``."""
        return self.folder / "admin.crt"

    @property
    def admin_key(self) -> Path:
        """The administrator's key."""
        return self.folder / "admin.key"

    @property
    def kubelet_client(self) -> Path:
        """Who the API server is when it calls a kubelet: a master too."""
        return self.folder / "kubelet-client.crt"

    @property
    def kubelet_client_key(self) -> Path:
        """The key of the API server when it calls a kubelet."""
        return self.folder / "kubelet-client.key"

    @property
    def accounts_key(self) -> Path:
        """The key that signs tokens of service accounts."""
        return self.folder / "sa.key"


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """Paths of the PEM files of one node."""

    client: Path
    """Who the node is to the API server: user ``system:node:NAME`` in group ``system:nodes``."""
    client_key: Path
    serving: Path
    """By what it is known to those who call its kubelet."""
    serving_key: Path


def provide(folder: Path, now: float, service_address: str) -> Keyring:
    """Return the certificates in ``folder``, making what is missing or near its end.

    Args:
        folder: Where the files are.
        now: Seconds since the epoch.
        service_address: The first service address, at which pods know the API server.

    Raises:
        DataError: the folder cannot be written, or the key of the tokens is damaged.
    """
    keyring, moment = Keyring(folder), datetime.fromtimestamp(now, UTC)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority = Authority.read(keyring.authority)
        if authority is None or not authority.lasts(moment):
            authority = _renew(keyring, moment)
        _certify(keyring, authority, moment, service_address)
        if not keyring.accounts_key.exists():
            write_private(keyring.accounts_key, key_pem(new_key()))
        elif public_half(keyring.accounts_key) is None:
            # Made anew, it would void every token that was ever given out.
            raise DataError(
                f"{keyring.accounts_key} is damaged: put the old one back, or delete it and with "
                "it all tokens of service accounts"
            )
    except OSError as error:
        raise DataError(f"cannot keep certificates in {folder}: {error.strerror}") from error
    return keyring


def provide_node(
    keyring: Keyring, now: float, name: str, addresses: Sequence[str] = ("127.0.0.1", "::1")
) -> NodeKeys:
    """Return the certificates of a node, making what is missing or near its end.

    Args:
        keyring: The cluster's, as ``provide`` has returned it.
        now: Seconds since the epoch.
        name: The node's.
        addresses: Those at which its kubelet is called.

    Raises:
        DataError: the folder cannot be written.
    """
    moment = datetime.fromtimestamp(now, UTC)
    client = keyring.folder / f"node-{name}.crt"
    serving = keyring.folder / f"kubelet-{name}.crt"
    user, group = f"system:node:{name}", "system:nodes"
    try:
        authority = Authority.read(keyring.authority)
        if authority is None:
            raise DataError(f"{keyring.authority} is damaged: start the cluster anew")
        if not authority.vouches(client, moment):
            authority.certify(client, moment, user, group)
        if not authority.vouches(serving, moment):
            authority.certify(
                serving, moment, user, group, names=(name, "localhost"), addresses=addresses
            )
    except OSError as error:
        raise DataError(
            f"cannot keep certificates in {keyring.folder}: {error.strerror}"
        ) from error
    return NodeKeys(client, key_of(client), serving, key_of(serving))


def _renew(keyring: Keyring, now: datetime) -> Authority:
    authority = Authority.make("windtunnel-ca", now)
    authority.keep(keyring.authority)
    return authority


def _certify(keyring: Keyring, authority: Authority, now: datetime, service_address: str) -> None:
    """Sign what is missing."""
    if not authority.vouches(keyring.server, now):
        addresses = ("127.0.0.1", "::1", service_address)
        authority.certify(
            keyring.server, now, "kube-apiserver", names=SERVER_NAMES, addresses=addresses
        )
    if not authority.vouches(keyring.admin, now):
        authority.certify(keyring.admin, now, "kubernetes-admin", _MASTERS)
    if not authority.vouches(keyring.kubelet_client, now):
        authority.certify(keyring.kubelet_client, now, "kube-apiserver-kubelet-client", _MASTERS)
