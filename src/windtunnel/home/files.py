"""Private files: of mode 600, and either whole or not there."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 600 that is either whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    temporary.replace(path)


def overwrite(path: Path, content: bytes) -> None:
    """Write over a small file where it stands, so that a full disk does not refuse it."""
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, content)
        os.truncate(handle, len(content))
    finally:
        os.close(handle)
