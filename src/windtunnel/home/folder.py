"""The state folder of one cluster: what it remembers, who holds it, who serves it.

    <home>/<name>/
      cluster.json    the marker, and what is remembered while nobody serves: where the data is, and
                      why the cluster ended if it did so by itself
      lock            held (flock) by the process that serves the cluster; released by its death
      process.json    that process: id, start time, address, settings; written when it serves
      kubeconfig      the cluster's own, used by ``windtunnel kubectl`` and the other verbs
      server.log      one structured line an event
      node/           the node that runs containers: its log, and the folder that is / to host paths
      pki/            keys and certificates of an ephemeral cluster
      data/           database, keys and certificates (elsewhere with ``--data-dir``)

A folder without the marker is somebody else's: it is neither written to nor deleted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from windtunnel.errors import ClusterError, DataError, UsageError
from windtunnel.home.files import overwrite, write_private
from windtunnel.home.lock import Lock
from windtunnel.home.process import Process

FORMAT: Final = 1
"""Version of the state folder's layout; a reader refuses every other."""

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def all_clusters() -> Path:
    """Return the folder that holds one folder per cluster."""
    chosen = os.environ.get("WINDTUNNEL_HOME")
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "windtunnel"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a folder knows of its cluster while nobody serves it."""

    format: int = FORMAT
    data: str = ""
    """Where the data lives; "" if the cluster was never durable."""
    ended: str = ""
    """Why the cluster stopped, if nobody had asked it to."""


class Folder:
    """The state folder of one cluster.

    Raises:
        UsageError: the name cannot be a cluster's.
    """

    def __init__(self, name: str, root: Path | None = None) -> None:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"cluster name {name!r} must be at most 40 lowercase letters, digits and dashes, "
                "and begin and end with a letter or digit"
            )
        self.name = name
        self.path = (root or all_clusters()) / name
        self.log = self.path / "server.log"
        self.kubeconfig = self.path / "kubeconfig"
        self.node = self.path / "node"
        self._marker = self.path / "cluster.json"
        self._lock = self.path / "lock"
        self._process = self.path / "process.json"

    @property
    def context(self) -> str:
        """Name of the kubeconfig context, and of its cluster and user."""
        return f"windtunnel-{self.name}"

    @property
    def exists(self) -> bool:
        """Whether there is such a cluster, running or not.

        Raises:
            DataError: the folder cannot be looked into.
        """
        try:
            self._marker.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise DataError(f"cannot read {self._marker}: {error.strerror}") from error
        return True

    @property
    def default_data(self) -> Path:
        """Where the data lives unless ``--data-dir`` says otherwise."""
        return self.path / "data"

    def create(self) -> bool:
        """Make the folder, or see that it is a cluster's; returns whether it is new.

        Raises:
            DataError: it cannot be made, or is somebody else's.
        """
        if self.exists:
            return False
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A file that begins with a dot is a marker whose writer died.
            stranger = next((e for e in self.path.iterdir() if not e.name.startswith(".")), None)
            if stranger is not None:
                raise DataError(
                    f"{self.path} is not a cluster's folder (it holds {stranger.name}); "
                    "choose another --name or another $WINDTUNNEL_HOME"
                )
            write_private(self._marker, _encoded(Remembered()))
        except OSError as error:
            raise DataError(f"cannot make {self.path}: {error.strerror}") from error
        return True

    def remembered(self) -> Remembered:
        """Return what is known of the cluster while nobody serves it.

        Raises:
            DataError: the file is unreadable, damaged or of another version.
        """
        found = self._read(self._marker)
        if found is None:
            return Remembered()
        if found.get("format") != FORMAT:
            raise DataError(
                f"{self.path} has format {found.get('format')}, this version reads {FORMAT}; "
                "use the version that made it"
            )
        try:
            return Remembered(**found)
        except TypeError as error:
            raise _damaged(self._marker, "it has other fields") from error

    def remember_data(self, data: Path) -> None:
        """Remember where the data lives, and that the cluster has begun anew."""
        self._remember(replace(self.remembered(), data=str(data), ended=""))

    def remember_end(self, why: str) -> None:
        """Remember why the cluster stopped by itself; "" where it has begun anew."""
        self._remember(replace(self.remembered(), ended=why))

    def hold(self) -> Lock:
        """Take the cluster for this process.

        Raises:
            ClusterError: another process serves it.
        """
        lock = Lock(self._lock)
        # Somebody who only looks (``held``) has it for an instant: try again before saying no.
        pause = threading.Event()
        if not any(lock.take() or pause.wait(0.02) for _ in range(5)):
            process = self.process()
            where = f" (process {process.pid}, {process.url})" if process else ""
            raise ClusterError(
                f"cluster {self.name} is already up{where}; "
                f"stop it with `windtunnel down --name {self.name}` or choose another --name"
            )
        return lock

    @property
    def held(self) -> bool:
        """Whether a process holds the cluster: it serves, or is about to, or is not quite gone."""
        return self.exists and Lock(self._lock).held_elsewhere()

    def write_process(self, process: Process) -> None:
        """Say who serves the cluster."""
        write_private(self._process, json.dumps(asdict(process), indent=2).encode() + b"\n")

    def forget_process(self) -> None:
        """Say that nobody serves the cluster any more."""
        self._process.unlink(missing_ok=True)

    def process(self) -> Process | None:
        """Return who serves the cluster or did so when he died; None after a clean stop.

        Raises:
            DataError: the file is unreadable or damaged.
        """
        found = self._read(self._process)
        try:
            return None if found is None else Process(**found)
        except TypeError as error:
            raise _damaged(self._process, "it has other fields") from error

    def remove(self) -> None:
        """Delete the folder and all that is in it.

        Raises:
            DataError: it is no cluster's, or cannot be deleted.
        """
        if not self.exists:
            raise DataError(f"{self.path} is not a cluster's folder; it is left as it is")
        try:
            shutil.rmtree(self.path)
        except OSError as error:
            why = "it is a symbolic link" if self.path.is_symlink() else error.strerror
            raise DataError(f"cannot delete {self.path}: {why}") from error

    def _remember(self, remembered: Remembered) -> None:
        try:
            overwrite(self._marker, _encoded(remembered))
        except OSError as error:
            raise DataError(f"cannot write {self._marker}: {error.strerror}") from error

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            found = json.loads(path.read_text())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            raise _damaged(path, "it is not JSON") from error
        if not isinstance(found, dict):
            raise _damaged(path, "it is not an object")
        return found


def folders() -> list[Folder]:
    """Return the folders of all clusters of this user, by name.

    One that cannot be looked into is among them; whoever asks it something is told so.

    Raises:
        DataError: the folder of folders cannot be read.
    """
    root = all_clusters()
    try:
        names = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"cannot read {root}: {error.strerror}") from error
    return [
        folder for name in names if _NAME.fullmatch(name) and _seems(folder := Folder(name, root))
    ]


def _seems(folder: Folder) -> bool:
    try:
        return folder.exists
    except DataError:
        return True


def _damaged(path: Path, why: str) -> DataError:
    return DataError(f"{path} is damaged: delete it ({why})")


def _encoded(remembered: Remembered) -> bytes:
    return json.dumps(asdict(remembered), indent=2).encode() + b"\n"
