"""A lock on a file, which the system gives back when its holder dies, however he dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from windtunnel.errors import DataError


class Lock:
    """A lock on a file, held as long as the process lives."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def take(self) -> bool:
        """Take the lock; returns whether it is ours now.

        Raises:
            DataError: the file cannot be opened.
        """
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DataError(f"cannot open {self._path}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def held_elsewhere(self) -> bool:
        """Whether some process holds the lock.

        Raises:
            DataError: the file cannot be opened.
        """
        try:
            self._path.lstat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise DataError(f"cannot open {self._path}: {error.strerror}") from error
        probe = Lock(self._path)
        free = probe.take()
        probe.release()
        return not free
