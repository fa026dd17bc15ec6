"""The first moments of a container: its private root is mounted, then its program takes over.

Run by the machine's Python as a program of its own, inside fresh namespaces: it must import nothing
but the standard library, and of that only what is quick, for its start is the greatest part of a
container's: not pathlib, json, signal or typing, each of which costs as much as all the mounts.
``entry.py FOLDER``: what is to be done is in its file ``plan``; what happens is told on its
named pipe ``status``, each time to a NUL: ``pid`` and the process's number, ``missing`` and why,
where a stand-in runs instead of the program, ``failed`` and why. The program that takes over closes
the pipe.
"""

# ruff: noqa: PTH103, PTH112, PTH115, PTH116, PTH120, PTH123

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC = 32, 4096, 16384
LOCKED = MS_NOSUID | MS_NODEV | MS_NOEXEC
PR_SET_PDEATHSIG, PR_CAPBSET_DROP = 1, 24
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
TIOCSCTTY, TIOCGPTPEER, TIOCSPTLCK = 0x540E, 0x5441, 0x40045431
SOL_SOCKET = SCM_RIGHTS = 1
SIGINT, SIGQUIT, SIGKILL, SIGPIPE, SIGXFSZ = 2, 3, 9, 13, 25
LINKS_AT_MOST = 40


class Missing(Exception):
    """A program that cannot be run; the text is the one that Go's ``exec`` package has for it."""


def inside(root: str, path: str) -> str:
    """Return where ``path`` leads when ``root`` is the root folder, links followed within it.

    What does not exist is taken as it is written.
    """
    left = [part for part in path.split("/") if part and part != "."][::-1]
    where: list[str] = []
    links = 0
    while left:
        part = left.pop()
        if part == "..":
            if where:
                where.pop()
            continue
        place = "/".join((root.rstrip("/"), *where, part))
        try:
            target = os.readlink(place)
        except OSError:
            where.append(part)
            continue
        links += 1
        if links > LINKS_AT_MOST:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if target.startswith("/"):
            where = []
        left += [step for step in target.split("/") if step and step != "."][::-1]
    return "/".join((root.rstrip("/"), *where)) or "/"


def find_program(root: str, name: str, search: str, folder: str) -> str:
    """Return the path, as the container sees it, of the program that ``name`` means.

    Raises:
        Missing: There is none, or none that may be run.
    """
    if "/" in name:
        path = name if name.startswith("/") else f"{folder.rstrip('/')}/{name}"
        try:
            mode = os.stat(inside(root, path)).st_mode
        except OSError as error:
            words = os.strerror(error.errno or errno.ENOENT).lower()
            raise Missing(f'exec: "{name}": stat {name}: {words}') from None
        if stat.S_ISDIR(mode) or not mode & 0o111:
            raise Missing(f'exec: "{name}": permission denied')
        return path
    for place in search.split(":"):
        path = f"{place.rstrip('/') or folder}/{name}"
        try:
            mode = os.stat(inside(root, path)).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & 0o111:
            return path
    raise Missing(f'exec: "{name}": executable file not found in $PATH')


def open_terminal(ptmx: str) -> tuple[int, int]:
    """Open a new terminal of a devpts; return the master's end and the other."""
    import fcntl

    master = os.open(ptmx, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(master, TIOCSPTLCK, b"\0\0\0\0")
        # By number, not by name: the one who opens may have another folder of terminals.
        slave = fcntl.ioctl(master, TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        os.close(master)
        raise
    return master, slave


def take_terminal(ptmx: str) -> None:
    """Make a terminal this process's own, and hand its master's end to who holds our input."""
    import _socket

    master, slave = open_terminal(ptmx)
    way = _socket.socket(fileno=0)
    way.sendmsg([b"t"], [(SOL_SOCKET, SCM_RIGHTS, master.to_bytes(4, sys.byteorder))])
    way.detach()
    for descriptor in range(3):
        os.dup2(slave, descriptor)


class System:
    """What only the C library can do: mounts onto paths of a root folder, and switches."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._libc = ctypes.CDLL(None, use_errno=True)

    def mount(self, kind: str, source: str, target: str) -> None:
        """Mount ``source`` on ``target`` (a path of the container), making the mount point."""
        place = inside(self._root, target)
        if kind in ("proc", "tmpfs", "devpts"):
            os.makedirs(place, exist_ok=True)
            options = {"devpts": b"newinstance,ptmxmode=0666,mode=620", "tmpfs": b"mode=1777"}
            self._call(kind, place, kind, MS_NOSUID | MS_NOEXEC, options.get(kind))
            return
        if not os.path.lexists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if os.path.isdir(source):
                os.makedirs(place, exist_ok=True)
            else:
                os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        self._call(source, place, None, MS_BIND | MS_REC)
        if kind == "bind-ro":
            self.read_only(place)

    def onto_itself(self) -> None:
        """Make the root a mount, so that it can be read-only by itself."""
        self._call(self._root, self._root, None, MS_BIND | MS_REC)

    def read_only(self, place: str) -> None:
        """Make one mount read-only, keeping the flags that its owner locked."""
        locked = os.statvfs(place).f_flag & LOCKED
        self._call(place, place, None, MS_REMOUNT | MS_BIND | MS_RDONLY | locked)

    def prctl(self, option: int, *values: int) -> None:
        """Call prctl; what this kernel does not know is let be."""
        self._libc.prctl(option, *(*values, 0, 0, 0, 0)[:4])

    def forget_signal(self, number: int) -> None:
        """Let a signal do what it does by itself."""
        self._libc.signal(number, None)

    def name_host(self, name: str) -> None:
        """Set the host name of this UTS namespace."""
        raw = name.encode()
        if self._libc.sethostname(raw, len(raw)):
            raise OSError(ctypes.get_errno(), "sethostname")

    def _call(
        self, source: str, place: str, kind: str | None, flags: int, options: bytes | None = None
    ) -> None:
        done = self._libc.mount(
            os.fsencode(source),
            os.fsencode(place),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            options,
        )
        if done:
            number = ctypes.get_errno()
            raise OSError(number, f"mounting {source} on {place}: {os.strerror(number).lower()}")


def enter(plan: dict[str, Any], system: System) -> None:
    """Build the root and make it the root."""
    root = plan["root"]
    if plan["cgroup"]:
        with open(plan["cgroup"], "w") as procs:
            procs.write("0")
    system.onto_itself()
    for kind, source, target in plan["mounts"]:
        system.mount(kind, source, target)
    system.name_host(plan["hostname"])
    os.makedirs(inside(root, plan["folder"]), exist_ok=True)
    if plan["read_only"]:
        system.read_only(root)
    os.chroot(root)


def take_over(plan: dict[str, Any], system: System, tell: Callable[[str, str], object]) -> None:
    """Become the container's program; returns only by an exception."""
    os.chdir(plan["folder"])
    if os.getsid(0) != os.getpid():
        os.setsid()
    if plan["terminal"]:
        import fcntl

        if plan["private"]:
            take_terminal("/dev/pts/ptmx")
        fcntl.ioctl(0, TIOCSCTTY, 0)
    for capability in plan["dropped"]:
        system.prctl(PR_CAPBSET_DROP, capability)
    system.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    if plan["identity"]:
        user, group, groups = plan["identity"]
        if user or group:
            for descriptor in range(3):
                # A program under another user opens /dev/stdout again; /dev/null is everybody's.
                if plan["terminal"] or not stat.S_ISCHR(os.fstat(descriptor).st_mode):
                    os.fchown(descriptor, user, group)
        os.setgroups(groups)
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    # Another user's death signal is forgotten by the kernel: ask for it again.
    system.prctl(PR_SET_PDEATHSIG, SIGKILL)
    environment = plan["environment"]
    argv = plan["argv"]
    try:
        program = find_program("/", *plan["program"])
    except Missing as missing:
        if not plan["stand_in"]:
            raise
        tell("missing", str(missing))
        argv = plan["stand_in"]
        program = argv[0]
    for number in (SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ):
        system.forget_signal(number)  # Python and the shell ignore some of them.
    os.execve(program, argv, environment)


def main(folder: str) -> None:
    """Run the plan; on failure tell what and exit with 128."""
    # Before anything can take its time: whoever started us may be killed at any moment. If that has
    # happened already nobody listens any more, and waiting for a listener would be for ever.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    try:
        status = os.open(f"{folder}/status", os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        os._exit(128)

    def tell(word: str, what: str) -> None:
        os.write(status, f"{word} {what}\0".encode())

    try:
        tell("pid", os.readlink("/proc/self"))
        with open(f"{folder}/plan", "rb") as file:
            plan = marshal.load(file)
        system = System(plan["root"])
        if plan["private"]:
            enter(plan, system)
        take_over(plan, system, tell)
    except Missing as error:
        tell("failed", str(error))
    except OSError as error:
        tell("failed", f"{error.strerror or error}: {error.filename or ''}")
    os._exit(128)


if __name__ == "__main__":
    main(sys.argv[1])
