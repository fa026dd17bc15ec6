"""Closing a connection for good, whatever the other end does.

A close that nobody waits for leaves the connection behind when its event loop ends: over TLS the
other end is asked to close, too, and may take its time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def close(writer: asyncio.StreamWriter, patience_seconds: float) -> None:
    """Close a connection and wait until it is closed; after a while, or when cancelled, abort it.

    Args:
        writer: Of the connection.
        patience_seconds: How long the other end has to close it, too.
    """
    writer.close()
    try:
        with suppress(OSError):
            async with asyncio.timeout(patience_seconds):
                await writer.wait_closed()
    finally:
        writer.transport.abort()
