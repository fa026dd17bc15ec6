"""How a program inside a pod reaches its API server: what the kubelet mounts, and two variables.

The token is only named here, never read: it is replaced before it ends, so the client reads the
file whenever it has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.errors import UsageError

_ACCOUNT_FOLDER: Final = "var/run/secrets/kubernetes.io/serviceaccount"
"""Where the kubelet puts the account of a pod; source: client-go's ``rest.InClusterConfig``."""
_ROOT: Final = "WINDTUNNEL_ROOT"
"""Names the folder of what is mounted where containers have no root of their own."""

_HOST: Final = "KUBERNETES_SERVICE_HOST"
_PORT: Final = "KUBERNETES_SERVICE_PORT"


def connection(environment: Mapping[str, str], folder: Path | None = None) -> Connection:
    """Return how the pod we run in reaches its API server.

    Raises:
        UsageError: this is no pod, or one without a service account.
    """
    host, port = environment.get(_HOST, ""), environment.get(_PORT, "")
    if not host or not port:
        raise UsageError(
            f"this is no pod: {_HOST} and {_PORT} are not set; outside of one, set KUBECONFIG"
        )
    if folder is None:
        folder = Path(environment.get(_ROOT) or "/") / _ACCOUNT_FOLDER
    token, ca = folder / "token", folder / "ca.crt"
    try:
        authority = ca.read_bytes()
        token.read_bytes()
    except OSError as error:
        raise UsageError(
            f"this pod has no service account: cannot read {error.filename}: {error.strerror}"
        ) from error
    shown = f"[{host}]" if ":" in host else host
    return Connection(server=f"https://{shown}:{port}", ca=authority, token_file=token)


def connect(environment: Mapping[str, str], folder: Path | None = None) -> Connection:
    """Return how an agent reaches its API server: by ``KUBECONFIG`` where set, else as its pod.

    Raises:
        UsageError: neither leads anywhere.
    """
    for part in environment.get("KUBECONFIG", "").split(":"):
        if part:
            if not Path(part).exists():
                raise UsageError(f"there is no kubeconfig {part}; KUBECONFIG names it")
            return kubeconfig.connection(Path(part))
    return connection(environment, folder)
