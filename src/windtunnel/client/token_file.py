"""A bearer token in a file that somebody else replaces: the kubelet, before the token ends."""

from __future__ import annotations

from pathlib import Path


class TokenFile:
    """Reads a token again whenever its file has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._token = ""

    def read(self) -> str:
        """Return the token; the last one that was there while the file cannot be read."""
        try:
            # The file is a link to a link that is swapped: what it leads to has another inode then.
            found = self._path.stat()
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if seen != self._seen:
                self._token = self._path.read_text().strip()
                self._seen = seen
        except (OSError, UnicodeDecodeError):
            pass
        return self._token
