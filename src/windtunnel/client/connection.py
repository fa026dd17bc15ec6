"""How to reach one API server: what kubeconfigs are read into and clients are made from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from windtunnel.errors import UsageError

_HOST: Final = re.compile(r"[A-Za-z0-9._:%-]+")


@dataclass(frozen=True, slots=True)
class Connection:
    """One server and one user. PEM texts are kept as bytes, never as paths.

    Raises:
        UsageError: the server's address cannot be one.
    """

    server: str
    ca: bytes = b""
    certificate: bytes = b""
    key: bytes = b""
    token: str = ""
    token_file: Path | None = None
    """Holds the token where somebody replaces it while the connection lives."""
    tls_server_name: str = ""
    insecure: bool = False
    namespace: str = "default"

    def __post_init__(self) -> None:
        wrong = _flaw(self.server)
        if wrong:
            raise UsageError(f"{self.server or repr('')} is no address of an API server: {wrong}")


def _flaw(server: str) -> str:
    """Say what is wrong with an address; "" for nothing."""
    try:
        place = urlsplit(server)
        port = place.port
    except ValueError:
        return "its port is no number from 1 to 65535, or its host is none"
    if place.scheme not in ("http", "https"):
        return "it must begin with https://"
    if not _HOST.fullmatch(place.hostname or ""):
        return "it names no host"
    return "its port is no number from 1 to 65535" if port == 0 else ""
