"""gRPC servers on Unix sockets, and a plain sentence where there can be none."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import grpc

PATH_BYTES: Final = 107
"""What a Unix socket's address has room for, on Linux."""
_THREADS: Final = 16
"""A plugin that registers holds one while it is dialled, for up to ten seconds."""


class SocketRefused(Exception):
    """A socket cannot be made; the text says why."""


def serve(socket: Path, add: Callable[[grpc.Server], None]) -> grpc.Server:
    """Serve on ``socket``, which is made anew; ``add`` puts services onto the server.

    Raises:
        SocketRefused: the path is too long, or may not be written.
    """
    length = len(os.fsencode(socket))
    if length > PATH_BYTES:
        raise SocketRefused(
            f"a socket's path may have {PATH_BYTES} bytes, and {socket} has {length}"
        )
    try:
        socket.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        socket.unlink(missing_ok=True)
    except OSError as error:
        raise SocketRefused(f"cannot make the socket {socket}: {error.strerror}") from error
    workers = ThreadPoolExecutor(_THREADS, thread_name_prefix=socket.parent.name)
    server = grpc.server(workers, options=[("grpc.so_reuseport", 0)])
    add(server)
    try:
        server.add_insecure_port(f"unix:{socket}")
        server.start()
    except RuntimeError as error:
        workers.shutdown(wait=False)
        raise SocketRefused(f"cannot make the socket {socket}: {error}") from error
    return server


def sweep(folder: Path) -> None:
    """Delete every socket in a folder; files and folders stay."""
    for entry in folder.iterdir():
        if entry.is_socket():
            entry.unlink(missing_ok=True)
