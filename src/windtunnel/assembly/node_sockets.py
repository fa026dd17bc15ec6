"""Where a node's sockets are: in a folder whose path is short, whatever the cluster's home is.

A Unix socket's address has room for about a hundred bytes, and homes may lie deep. So the folders
of sockets lie under ``/tmp`` while the node runs, and the node's root leads there. What a kubelet
keeps beside them, its record of devices, stays with the node when the folder goes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

_TEMPORARY: Final = Path("/tmp")
_RECORD: Final = "kubelet_internal_checkpoint"


class NodeSockets:
    """The folders of one node's sockets.

    Args:
        root: The folder that is ``/`` to the node's host paths; one that is not there yet is a
            new node's, to which nothing belongs of an earlier one.
        temporary: Where short folders are made; where it cannot be, they lie beside the root.
    """

    def __init__(self, root: Path, temporary: Path = _TEMPORARY) -> None:
        self._kept = root.parent / "devices"
        places = (short_folder(root, temporary), root.parent / "sockets")
        if not root.exists():
            for place in places:
                shutil.rmtree(place, ignore_errors=True)
            self._kept.unlink(missing_ok=True)
        self._folder = next((place for place in places if _make(place)), places[-1])
        self.plugins = self._folder / "p"
        self.pod_resources = self._folder / "r"
        if self._kept.exists() and not (self.plugins / _RECORD).exists():
            with suppress(OSError):
                self.plugins.mkdir(exist_ok=True)
                shutil.copyfile(self._kept, self.plugins / _RECORD)

    def leave(self) -> None:
        """Remove the folders; the record of devices is kept for the next start."""
        with suppress(OSError):
            shutil.copyfile(self.plugins / _RECORD, self._kept)
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):  # others may be in it
            self._folder.parent.rmdir()


def short_folder(root: Path, temporary: Path = _TEMPORARY) -> Path:
    """Return the short folder of the node with this root."""
    digest = hashlib.sha256(str(root.absolute()).encode()).hexdigest()[:8]
    return temporary / f"windtunnel-{os.getuid()}" / digest


def _make(folder: Path) -> bool:
    """Make a folder that is ours alone; False where that cannot be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Anybody may make a folder under /tmp: what lies in another's is not ours.
        return all(each.lstat().st_uid == os.getuid() for each in (folder, folder.parent)) and (
            os.access(folder, os.W_OK)
        )
    except OSError:
        return False
