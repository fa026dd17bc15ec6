"""Connections to other servers, and the words for what goes wrong on the way there."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final

from windtunnel.apiserver.request import Destination

_DIAL_SECONDS: Final = 30.0
BUFFERED: Final = 64 * 1024
"""Bytes that may wait in a connection before its sender has to."""


async def dial(
    destination: Destination, tls: ssl.SSLContext
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect.

    Raises:
        OSError: It cannot be; ``in_words`` says why.
    """
    async with asyncio.timeout(_DIAL_SECONDS):
        reader, writer = await asyncio.open_connection(
            destination.host,
            destination.port,
            ssl=tls if destination.secure else None,
            server_hostname="" if destination.secure else None,
            limit=BUFFERED,
        )
    writer.transport.set_write_buffer_limits(BUFFERED)
    return reader, writer


def in_words(error: Exception, host: str, port: int) -> str:
    """Say what went wrong as the real server's HTTP client does, where it has words for it."""
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {host}:{port}: connect: connection refused"
    if isinstance(error, TimeoutError):
        return f"dial tcp {host}:{port}: i/o timeout"
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: {error.verify_message}"
    return str(error) or type(error).__name__
