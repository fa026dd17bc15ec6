"""How processes are put into namespaces of their own, and whether this machine allows it.

The programs are util-linux's. Root makes namespaces as it is; any other user makes a user namespace
around them, in which the container's user is the only one there is.
"""

from __future__ import annotations

import marshal
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import Any, Final

from windtunnel.nodes.kubelet.runtime import entry


def compiled(source: Path) -> Path:
    """Return a program as it was compiled when it was imported, where it is still the same.

    A source would be compiled at each start; what is run directly nobody compares with its source.
    """
    made = Path(cache_from_source(source))
    try:
        head = made.read_bytes()[:16]
    except OSError:
        return source
    known = source.stat()
    of_source = (0, int(known.st_mtime) & _WORD, known.st_size & _WORD)
    return made if head == MAGIC_NUMBER + struct.pack("<3I", *of_source) else source


_WORD: Final = 0xFFFFFFFF
_ENTRY: Final = str(compiled(Path(entry.__file__)))
_TRIAL_SECONDS: Final = 10
_KEPT_CAPABILITIES: Final = {
    "audit_write": 29,
    "chown": 0,
    "dac_override": 1,
    "fowner": 3,
    "fsetid": 4,
    "kill": 5,
    "mknod": 27,
    "net_bind_service": 10,
    "net_raw": 13,
    "setfcap": 31,
    "setgid": 6,
    "setpcap": 8,
    "setuid": 7,
    "sys_chroot": 18,
}
"""What a container's root user may do. Source: containerd's default."""
_LAST_CAPABILITY: Final = 40


_FIRST_CHILD: Final = 'exec 9<&0; "$@" <&9 9<&- & exec <&- >&- 2>&- 9<&-; wait $!'
"""The shell's first child is the first process of the new PID namespace; its exit is the shell's.

``unshare --fork`` cannot tell of a child that was killed, and keeps the container's ends open.
"""


@dataclass(frozen=True, slots=True)
class Identity:
    """The user a container's processes run as."""

    user: int
    group: int
    groups: tuple[int, ...]
    privileged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Programs that make and enter namespaces; one that is missing is empty."""

    unshare: str
    nsenter: str
    setpriv: str
    setsid: str
    root: bool

    @classmethod
    def find(cls) -> Tools:
        """Look for the programs on this machine."""

        def which(name: str) -> str:
            return shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin") or ""

        return cls(
            unshare=which("unshare"),
            nsenter=which("nsenter"),
            setpriv=which("setpriv"),
            setsid=which("setsid"),
            root=os.geteuid() == 0,
        )

    def missing(self) -> list[str]:
        """Name the programs that are not there."""
        names = ("unshare", "nsenter", "setpriv", "setsid")
        return [name for name in names if not getattr(self, name)]

    def launch(self, identity: Identity, folder: Path) -> list[str]:
        """Return the command that makes namespaces and runs a plan in them."""
        return [
            *(self.unshare, "--mount", "--pid", "--uts", *self._mapping(identity)),
            *(self.setpriv, "--pdeathsig", "KILL"),
            *("/bin/sh", "-c", _FIRST_CHILD, "container", *_python(folder)),
        ]

    def launch_plainly(self, folder: Path) -> list[str]:
        """Return the command that runs a plan without namespaces."""
        death = (self.setpriv, "--pdeathsig", "KILL") if self.setpriv else ()
        return [*death, *_python(folder)]

    def enter(
        self, identity: Identity, pid: int, folder: str, argv: Sequence[str], *, terminal: bool
    ) -> list[str]:
        """Return the command that runs ``argv`` in the namespaces and the root of a process.

        Args:
            identity: As whom.
            pid: The container's first process.
            folder: The working directory, as a path of the container without links.
            argv: What to run.
            terminal: Whether it takes the terminal it is given; a session is one only to those who
                are in the same PID namespace as its leader.
        """
        root = f"/proc/{pid}/root"
        return [
            *(self.nsenter, f"--target={pid}", "--mount", "--uts", "--pid"),
            *(() if self.root else ("--user", "--preserve-credentials")),
            *(f"--root={root}", f"--wd={root}{folder}", "--"),
            *((self.setsid, "--ctty") if terminal else ()),
            *(self.setpriv, "--pdeathsig", "KILL", *self._credentials(identity), "--"),
            *argv,
        ]

    def _mapping(self, identity: Identity) -> tuple[str, ...]:
        if self.root:
            return ()
        if identity.user == identity.group == 0:
            return ("--map-root-user",)
        return (f"--map-user={identity.user}", f"--map-group={identity.group}", "--keep-caps")

    def _credentials(self, identity: Identity) -> tuple[str, ...]:
        kept = ",".join(f"+{name}" for name in _KEPT_CAPABILITIES)
        bounds = () if identity.privileged else ("--bounding-set", f"-all,{kept}")
        if not self.root:
            return bounds if identity.user == 0 else ()
        groups = ",".join(map(str, identity.groups))
        return (
            *bounds,
            *(f"--reuid={identity.user}", f"--regid={identity.group}"),
            f"--groups={groups}" if groups else "--clear-groups",
        )


def _python(folder: Path) -> tuple[str, ...]:
    interpreter = os.path.realpath(sys.executable)
    return (interpreter, "-I", "-S", "-E", _ENTRY, str(folder))


@dataclass(frozen=True, slots=True)
class Told:
    """What ``entry`` has told so far.

    ``pid`` is 0 until it is known; ``missing`` says why a stand-in runs instead of the program.
    """

    pid: int = 0
    missing: str = ""
    failed: str = ""

    @classmethod
    def read(cls, raw: bytes) -> Told:
        """Read what came through the pipe."""
        words = dict(each.partition(" ")[::2] for each in raw.decode(errors="replace").split("\0"))
        return cls(int(words.get("pid", 0)), words.get("missing", ""), words.get("failed", ""))


def open_status(folder: Path) -> int:
    """Make the pipe on which ``entry`` tells how it goes; return its reading end."""
    pipe = folder / "status"
    os.mkfifo(pipe, 0o600)
    return os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def dropped_capabilities(identity: Identity) -> list[int]:
    """Return the capabilities that a container's processes can never have."""
    if identity.privileged:
        return []
    kept = set(_KEPT_CAPABILITIES.values())
    return [number for number in range(_LAST_CAPABILITY + 1) if number not in kept]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlan:
    """What ``entry`` is to do."""

    identity: Identity
    """As whom the program runs."""
    mounts: Sequence[tuple[str, str, str]]
    """Kind, source and target each."""
    argv: Sequence[str]
    environment: dict[str, str]
    working_dir: str
    hostname: str
    stand_in: Sequence[str] = ()
    """What runs where there is no such program; nothing: the container fails."""
    group: str = ""
    """The file of a control group to join; empty for none."""
    read_only: bool = False
    """Whether the root is read-only."""
    terminal: bool = False
    """Whether the standard input is a terminal to take."""
    private: bool = True
    """False where there are no namespaces."""


def write_plan(folder: Path, plan: EntryPlan, tools: Tools) -> None:
    """Write a plan where ``entry`` reads it; ``tools`` tell whether users can be changed."""
    identity, private = plan.identity, plan.private
    own = (identity.user, identity.group, list(identity.groups))
    written: dict[str, Any] = {
        "root": str(folder / "root"),
        "mounts": [*plan.mounts],
        "argv": list(plan.argv),
        "stand_in": list(plan.stand_in),
        "program": [plan.argv[0], plan.environment.get("PATH", ""), plan.working_dir],
        "environment": plan.environment,
        "folder": plan.working_dir,
        "hostname": plan.hostname,
        "cgroup": plan.group,
        "read_only": plan.read_only,
        "terminal": plan.terminal,
        "private": private,
        "identity": own if private and tools.root else None,
        "dropped": dropped_capabilities(identity) if private else [],
    }
    (folder / "plan").write_bytes(marshal.dumps(written))


def trial(tools: Tools, folder: Path, mounts: Sequence[tuple[str, str, str]]) -> str:
    """Start a program in a root of its own, as containers do; return why it fails, or nothing.

    Args:
        tools: The programs that were found.
        folder: An empty folder; ``root`` in it must be the root that ``mounts`` belongs to.
        mounts: The mounts of that root.
    """
    missing = tools.missing()
    if missing:
        return f"this machine has no {' and no '.join(missing)} (of util-linux)"
    if not hasattr(os, "pidfd_open"):
        return "this Python cannot hold on to processes"
    identity = Identity(0, 0, (), privileged=False)
    plan = EntryPlan(
        identity=identity,
        mounts=mounts,
        argv=("/bin/sh", "-c", ":"),
        environment={"PATH": "/bin"},
        working_dir="/",
        hostname="trial",
    )
    write_plan(folder, plan, tools)
    status = -1
    try:
        status = open_status(folder)
        done = subprocess.run(
            tools.launch(identity, folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
        told = Told.read(os.read(status, 4096)).failed
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"a container of its own cannot be started on this machine: {error}"
    finally:
        if status >= 0:
            os.close(status)
    if done.returncode == 0:
        return ""
    why = told or done.stderr.strip() or f"exit status {done.returncode}"
    return f"this machine does not let us make namespaces: {why}"
