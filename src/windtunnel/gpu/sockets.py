"""Unix sockets of gRPC servers: making one, or saying in one sentence why there can be none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from windtunnel.errors import WindtunnelError

if TYPE_CHECKING:
    import grpc

_LONGEST_PATH: Final = 107
"""Bytes that the address of a Unix socket can hold, on Linux."""


class NoSocket(WindtunnelError):
    """A socket cannot be made; the sentence says why."""


def listen(server: grpc.Server, path: Path) -> None:
    """Have a server listen at ``path``, in the place of whatever was left behind there.

    Raises:
        NoSocket: there can be no socket there.
    """
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise NoSocket(f"the path {path} is too long for a socket: {_LONGEST_PATH} bytes")
    try:
        path.unlink(missing_ok=True)
        server.add_insecure_port(f"unix:{path}")
    except (OSError, RuntimeError) as error:
        raise NoSocket(f"cannot listen at {path}: {error}") from error
