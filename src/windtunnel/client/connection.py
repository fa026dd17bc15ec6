"""How to reach one API server: what kubeconfigs are read into and clients are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Connection:
    """One server and one user. PEM texts are kept as bytes, never as paths."""

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
