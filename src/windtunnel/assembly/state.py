"""Where a cluster lives on disk, who holds it, and whether it still runs.

One folder per cluster under ``$WINDTUNNEL_HOME`` (``~/.local/state/windtunnel`` by default):

    <home>/<name>/
      lock            held (flock) by the process that serves the cluster; released by its death
      process.json    that process: id, start time, address, settings; written when it serves
      kubeconfig      the cluster's own, used by ``windtunnel kubectl`` and the other verbs
      server.log      one structured line an event
      pki/            keys and certificates of an ephemeral cluster
      data/           database, keys and certificates (elsewhere with ``--data-dir``)

A data folder carries a marker with its format, so that neither a stranger's folder nor one of
another version is ever written to, and a lock of its own. A process is known by its id and its
start time together: an id that the system has given to another process does not pass for ours.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from windtunnel.errors import ClusterError, DataError, UsageError

FORMAT: Final = 1
"""Version of the data folder's layout; a reader refuses every other."""
MARKER: Final = "windtunnel.json"
DATABASE: Final = "windtunnel.db"

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def home() -> Path:
    """Return the folder that holds one folder per cluster."""
    chosen = os.environ.get("WINDTUNNEL_HOME")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "windtunnel"


@dataclass(frozen=True, slots=True)
class Process:
    """The process that serves a cluster, as it has written itself down."""

    pid: int
    started: str
    """Start time as the kernel counts it, with the boot it belongs to; "" where neither is told."""
    url: str
    kubeconfig: str
    """The user's file that the context was merged into."""
    data: str
    """The data folder; "" for an ephemeral cluster."""
    without: list[str] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return _exists(self.pid) and birth(self.pid) == self.started


def birth(pid: int) -> str:
    """Return when a process was started, in a form that no later process of that id repeats.

    A process that has ended and only waits to be collected by its parent counts as gone.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    # The name in parentheses may hold spaces; fields are counted from after it.
    fields = stat.rpartition(")")[2].split()
    state, start_time = fields[0], fields[19]
    return "" if state in "ZX" else f"{boot}:{start_time}"


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
        self.path = (root or home()) / name
        self.log = self.path / "server.log"
        self.kubeconfig = self.path / "kubeconfig"
        self._lock = self.path / "lock"
        self._process = self.path / "process.json"

    @property
    def exists(self) -> bool:
        """Whether there is such a cluster, running or not."""
        return self.path.is_dir()

    @property
    def default_data(self) -> Path:
        """Where the data lives unless ``--data-dir`` says otherwise."""
        return self.path / "data"

    def create(self) -> None:
        """Make the folder.

        Raises:
            DataError: it cannot be made.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot make {self.path}: {error.strerror}") from error

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
        """Return who serves the cluster or did so when he died; None after a clean stop."""
        try:
            return Process(**json.loads(self._process.read_text()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise DataError(f"{self._process} is damaged: delete it ({error})") from error

    def remove(self) -> None:
        """Delete the folder and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)


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
        """Whether some process holds the lock."""
        if not self._path.exists():
            return False
        probe = Lock(self._path)
        free = probe.take()
        probe.release()
        return not free


def open_data(path: Path, cluster: str) -> Lock:
    """Take a data folder for this process; a missing or empty one becomes ours.

    Raises:
        DataError: the folder is foreign, of another version, unreadable, or in use.
    """
    marker = path / MARKER
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = sorted(entry.name for entry in path.iterdir())
        if MARKER not in content:
            if set(content) - {"lock"}:
                raise DataError(
                    f"{path} is not a Windtunnel data folder (it holds {content[0]}); "
                    "choose an empty one"
                )
            text = json.dumps({"format": FORMAT, "cluster": cluster}) + "\n"
            write_private(marker, text.encode())
        found = json.loads(marker.read_text())
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(f"data folder {path} is not a folder") from error
    except OSError as error:
        raise DataError(f"cannot use data folder {path}: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{marker} is damaged: it is not JSON") from error
    version = found.get("format") if isinstance(found, dict) else None
    if version != FORMAT:
        raise DataError(
            f"data folder {path} has format {version}, this version reads {FORMAT}; "
            "use the version that made it"
        )
    lock = Lock(path / "lock")
    if not lock.take():
        raise DataError(f"data folder {path} is in use by another cluster")
    return lock


def folders() -> list[Folder]:
    """Return the folders of all clusters of this user, by name."""
    root = home()
    if not root.is_dir():
        return []
    names = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    return [Folder(name, root) for name in names if _NAME.fullmatch(name)]


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 600 that is either whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    temporary.replace(path)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
