"""Where images come from: which names exist, and in what words a registry says that one does not.

Nothing is downloaded. A registry that the table names holds what the table says; one on this
machine's own loopback is really asked, since it is somebody's development registry; any other is
taken to hold every image. Texts are containerd 1.6's.
"""

from __future__ import annotations

import http.client
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Final

from windtunnel.nodes.kubelet.runtime.protocol import PullFailed
from windtunnel.nodes.kubelet.runtime.reference import Reference

_ASK_SECONDS: Final = 10.0
_LOOPBACK: Final = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")
_KINDS: Final = (
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.docker.distribution.manifest.v2+json"
)


class Holding(Enum):
    """Whose programs an image holds."""

    BUSYBOX = "busybox"
    OURS = "ours"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Stock:
    """Repositories of a registry: those whose path matches ``pattern`` hold ``holding``."""

    pattern: str
    holding: Holding = Holding.UNKNOWN


Registries = Mapping[str, tuple[Stock, ...]]
"""What registries hold, by host; of one that is named here nothing else exists."""


def holding_of(reference: Reference, components: frozenset[str]) -> Holding:
    """Tell whose programs an image holds by its name.

    Ours are ``…/windtunnel``, ``…/windtunnel-agent``, and the original operator's components.
    """
    *folders, last = reference.repository.split("/")
    if "busybox" in last:
        return Holding.BUSYBOX
    if last in ("windtunnel", "windtunnel-agent"):
        return Holding.OURS
    if last in components and folders and folders[-1] == "fake-gpu-operator":
        return Holding.OURS
    return Holding.UNKNOWN


def resolve(reference: Reference, holding: Holding, registries: Registries) -> Holding:
    """Return what pulling an image brings.

    Raises:
        PullFailed: The image is not there, or its registry is not.
    """
    stocks = registries.get(reference.registry)
    if stocks is not None:
        for stock in stocks:
            if fnmatchcase(reference.repository, stock.pattern):
                return stock.holding
        raise PullFailed(not_found(reference))
    if _LOOPBACK.fullmatch(reference.registry):
        _ask(reference)
    return holding


def not_found(reference: Reference) -> str:
    """Say that a registry does not have an image."""
    return f"rpc error: code = NotFound desc = {_unresolved(reference)}: {reference}: not found"


def _unresolved(reference: Reference) -> str:
    return (
        f'failed to pull and unpack image "{reference}": failed to resolve reference "{reference}"'
    )


def _ask(reference: Reference) -> None:
    """Ask a registry on this machine for a manifest, as a pull begins."""
    version = reference.digest or reference.tag
    path = f"/v2/{reference.repository}/manifests/{version}"
    request = f'failed to do request: Head "http://{reference.registry}{path}"'
    connection = http.client.HTTPConnection(reference.registry, timeout=_ASK_SECONDS)
    try:
        connection.request("HEAD", path, headers={"Accept": _KINDS})
        status = connection.getresponse().status
    except ConnectionRefusedError:
        words = f"dial tcp {reference.registry}: connect: connection refused"
        raise PullFailed(f"{_unresolved(reference)}: {request}: {words}") from None
    except (OSError, http.client.HTTPException) as error:
        raise PullFailed(f"{_unresolved(reference)}: {request}: {error}") from None
    finally:
        connection.close()
    if status == http.client.NOT_FOUND:
        raise PullFailed(not_found(reference))
    if status >= http.client.BAD_REQUEST:
        reason = http.client.responses.get(status, "")
        words = f"unexpected status from HEAD request to http://{reference.registry}{path}"
        raise PullFailed(f"{_unresolved(reference)}: {words}: {status} {reason}")
