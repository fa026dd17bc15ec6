"""How to reach one API server: what kubeconfigs are read into and clients are made from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Connection:
    """One server and one user. PEM texts are kept as bytes, never as paths."""

    server: str
    ca: bytes = b""
    certificate: bytes = b""
    key: bytes = b""
    token: str = ""
    tls_server_name: str = ""
    insecure: bool = False
    namespace: str = "default"
