"""Where a node's own paths lie on the machine.

A node has a root folder, so that several can live on one machine. Paths that a node keeps things in
are folders of that root; all others are the machine's own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from windtunnel.nodes.kubelet.volumes.failures import VolumeMissing

_OWN: Final = ("/var/lib", "/run", "/var/log", "/etc/cdi", "/runai")
_SAME: Final = {"/var/run": "/run"}
"""Folders that are links to others on every machine."""

_CHECKS: Final[dict[str, tuple[Callable[[int], bool], str]]] = {
    "Directory": (stat.S_ISDIR, "a directory"),
    "DirectoryOrCreate": (stat.S_ISDIR, "a directory"),
    "File": (stat.S_ISREG, "a file"),
    "FileOrCreate": (stat.S_ISREG, "a file"),
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


class HostPlaces:
    """Finds a node's paths on the machine.

    Args:
        root: The node's root folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self, path: str) -> Path:
        """Return where a path of the node lies."""
        return Path(place(path, str(self._root)))

    def read_only(self, path: str) -> bool:
        """Tell whether the path is the machine's own and we are a user who must not change it."""
        return os.geteuid() != 0 and place(path, str(self._root)) == os.path.normpath(path)

    def provide(self, path: str, kind: str) -> Path:
        """Return where a hostPath volume lies, made or checked as its type says.

        Raises:
            VolumeMissing: what is there is not of the type.
        """
        found = self.find(path)
        try:
            if kind == "DirectoryOrCreate":
                found.mkdir(mode=0o755, parents=True, exist_ok=True)
            elif kind == "FileOrCreate" and not found.exists():
                found.touch(mode=0o644)
            elif not kind:
                return found
            mode = found.stat().st_mode
        except FileExistsError:
            mode = found.stat().st_mode
        except FileNotFoundError:
            mode = 0
        except OSError as error:
            words = (error.strerror or str(error)).lower()
            raise VolumeMissing(f"hostPath type check failed: {path}: {words}") from None
        check, words = _CHECKS[kind]
        if not check(mode):
            raise VolumeMissing(f"hostPath type check failed: {path} is not {words}")
        return found


def place(path: str, root: str) -> str:
    """Return where a path of a node lies on the machine, the node's root being ``root``."""
    path = os.path.normpath(path)
    for alias, folder in _SAME.items():
        if path == alias or path.startswith(f"{alias}/"):
            path = folder + path[len(alias) :]
    if any(path == own or path.startswith(f"{own}/") for own in _OWN):
        return root + path
    return path
