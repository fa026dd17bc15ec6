"""What a runtime of containers is asked, and what it answers: the seam of the node.

A runtime outlives the kubelet that uses it: what runs is known by records that the runtime keeps,
so a kubelet that starts again finds its containers going on. Nothing here knows the API.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Final, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A file or folder of the machine that a container sees at a path of its own."""

    host_path: str
    container_path: str
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNode:
    """A device file of the machine that a container sees at a path of its own."""

    host_path: str
    container_path: str
    permissions: str = "rwm"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerOrder:
    """Everything that is decided about a container before it is made.

    ``command`` and ``args`` are None where the image's own hold. ``log_path`` is written in the
    CRI's format. ``memory_limit_bytes`` is 0 where there is none. ``address`` is the pod's address
    as the API shows it. With ``stdin_once`` the program's input ends with the first attached one's.
    ``annotations`` and ``labels`` are kept with the container; no program in it sees them.
    """

    pod_uid: str
    pod_namespace: str
    pod_name: str
    name: str
    attempt: int
    image: str
    command: tuple[str, ...] | None
    args: tuple[str, ...] | None
    environment: tuple[tuple[str, str], ...]
    working_dir: str
    mounts: tuple[Mount, ...]
    devices: tuple[DeviceNode, ...]
    user: int | None
    group: int | None
    groups: tuple[int, ...]
    privileged: bool
    read_only_root: bool
    tty: bool
    stdin: bool
    log_path: Path
    hostname: str
    address: str
    memory_limit_bytes: int
    annotations: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]
    init: bool
    stdin_once: bool = False


UNSEEN: Final = "Unknown"
"""The reason of a container that ended with its node, unseen."""


class ContainerState(Enum):
    """How far a container's life has gone."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRecord:
    """One container at one moment; a time is 0 where it has not come.

    ``id`` is 64 hexadecimal digits. ``reason`` is empty until the container has exited, then
    "Completed", "Error", "OOMKilled", "StartError" or ``UNSEEN``. ``stand_in`` tells that the image
    is only a name here. Then ``asleep`` tells that a process sleeps instead of the image's own
    program, which nobody knows, and ``missing`` says why one sleeps instead of the command; known
    once it runs.
    """

    id: str
    pod_uid: str
    pod_namespace: str
    pod_name: str
    name: str
    attempt: int
    image: str
    image_id: str
    state: ContainerState
    exit_code: int
    reason: str
    message: str
    created_at: float
    started_at: float
    finished_at: float
    pid: int
    log_path: Path
    init: bool
    stand_in: bool = False
    asleep: bool = False
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRecord:
    """An image that is present: what ``status.containerStatuses`` and ``status.images`` tell of it.

    ``image`` is the full reference (``docker.io/library/busybox:1.36``), ``id`` its digest,
    ``names`` the tags and digests under which it is known. ``stand_in`` tells that nothing here
    knows its programs.
    """

    image: str
    id: str
    names: tuple[str, ...]
    size_bytes: int
    stand_in: bool = False


class Isolation(Enum):
    """How far containers are kept apart on this machine."""

    NAMESPACES = "namespaces"
    NONE = "none"


class PullFailed(Exception):
    """An image cannot be had; ``reason`` is "ErrImagePull" or "InvalidImageName"."""

    def __init__(self, message: str, reason: str = "ErrImagePull") -> None:
        super().__init__(message)
        self.reason = reason


class CreateFailed(Exception):
    """A container cannot be made of its order; there is no record of it."""


class StartFailed(Exception):
    """A container's program cannot be run; its record says EXITED, 128, "StartError"."""


class ExecFailed(Exception):
    """A program cannot be run in a container: there is none, or the container does not run."""


class ExecTimedOut(Exception):
    """A program in a container took longer than it may; it was killed.

    ``output`` is what it had written by then.
    """

    def __init__(self, message: str, output: bytes = b"") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program that was run to its end in a container came to."""

    code: int
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def output(self) -> bytes:
        """Return all that it has written."""
        return self.stdout + self.stderr

    def complaint(self, command: Sequence[str]) -> str:
        """Return how a kubelet says that it has failed: of its words, only its complaints."""
        said = self.stderr.decode(errors="replace")
        return f"command '{' '.join(command)}' exited with {self.code}: {said}"


class Exec(Protocol):
    """A program's open ends: of one started in a container, or of the container itself.

    With a terminal, ``stdout`` carries both outputs and ``stderr`` is None. ``stdin`` is None where
    it was not asked for; closing it tells the program that nothing more comes. Reading at the end
    gives ``b""``, with a terminal too.
    """

    stdin: BinaryIO | None
    stdout: BinaryIO
    stderr: BinaryIO | None

    def resize(self, columns: int, rows: int) -> None:
        """Tell the terminal its size; nothing happens where there is none."""
        ...

    def wait(self) -> int:
        """Return the program's exit code when it has ended (128 + signal where killed)."""
        ...

    def kill(self) -> None:
        """End it: kill what ``exec`` started, leave what ``attach`` was attached to."""
        ...

    def close(self) -> None:
        """Close all ends; once nobody reads or writes them."""
        ...


class Runtime(Protocol):
    """Containers of one node. Methods may block a little, but for ``containers`` and ``record``."""

    @property
    def isolation(self) -> Isolation:
        """How far containers are kept apart; ``isolation_message`` says why not further."""
        ...

    @property
    def isolation_message(self) -> str:
        """One sentence on what this machine allows."""
        ...

    def image(self, reference: str) -> ImageRecord | None:
        """Return the image where it is present; raises PullFailed where the name is no name."""
        ...

    def pull(self, reference: str) -> ImageRecord:
        """Make the image present; raises PullFailed."""
        ...

    def images(self) -> list[ImageRecord]:
        """Return the images that are present, largest first."""
        ...

    def create(self, order: ContainerOrder) -> str:
        """Make a container and return its id; raises CreateFailed."""
        ...

    def start(self, container_id: str) -> None:
        """Run the container's program; raises StartFailed."""
        ...

    def signal(self, container_id: str, number: int) -> None:
        """Send a signal to the container's first process, if it still runs."""
        ...

    def stop(self, container_id: str, grace_seconds: float) -> None:
        """Ask the container to end, kill it after the grace; returns when it has exited."""
        ...

    def remove(self, container_id: str) -> None:
        """Forget a container, killing it where it runs; its log file stays."""
        ...

    def containers(self) -> list[ContainerRecord]:
        """Return all containers that were not removed, in the order of their creation."""
        ...

    def record(self, container_id: str) -> ContainerRecord | None:
        """Return one container, None where it was removed."""
        ...

    def listen(self, deliver: Callable[[ContainerRecord], None]) -> Callable[[], None]:
        """Tell each change of state, from any thread, until the returned call is made."""
        ...

    def exec(
        self, container_id: str, argv: Sequence[str], *, tty: bool = False, stdin: bool = False
    ) -> Exec:
        """Run a program in a running container; raises ExecFailed."""
        ...

    def exec_sync(self, container_id: str, argv: Sequence[str], timeout_seconds: float) -> Ended:
        """Run a program to its end. 0 seconds: no limit.

        Raises:
            ExecFailed: it cannot be run.
            ExecTimedOut: it took too long.
        """
        ...

    def attach(self, container_id: str) -> Exec:
        """Open the ends of a running container's first process; raises ExecFailed."""
        ...

    def close(self) -> None:
        """Kill every container; only logs are left, and records where they are kept."""
        ...
