"""Memory limits: by a control group where this machine lets us make one, else by looking.

A group of version 1 or 2 is made beside or above our own, wherever a limit can be written. Without
one, a watch adds up what a container's processes hold, several times a second, and kills the
container that holds too much: what takes more than its limit within a moment gets it for a moment.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

LOOK_SECONDS: Final = 0.2
_HIERARCHIES: Final = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A control group that holds one container to its limit."""

    folder: Path
    legacy: bool

    @property
    def procs(self) -> Path:
        """The file to which a process is written that joins."""
        return self.folder / "cgroup.procs"

    def kills(self) -> int:
        """Count the processes that were killed for memory."""
        name = "memory.oom_control" if self.legacy else "memory.events"
        with contextlib.suppress(OSError):
            return oom_kills((self.folder / name).read_text())
        return 0

    def remove(self) -> None:
        """Remove the group; where a process is still ending, it stays for ``Groups.close``."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def oom_kills(text: str) -> int:
    """Read the counter of kills in ``memory.events`` or ``memory.oom_control``."""
    for line in text.splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0


def places(cgroups: str) -> Iterator[tuple[PurePosixPath, bool]]:
    """Name the folders in which a group may be made, nearest first: (folder, version 1).

    Args:
        cgroups: The text of ``/proc/self/cgroup``.
    """
    for line in cgroups.splitlines():
        _, controllers, path = line.split(":", 2)
        legacy = "memory" in controllers.split(",")
        if not legacy and controllers:
            continue
        base = PurePosixPath("memory" if legacy else ".")
        own = PurePosixPath(path.lstrip("/"))
        # A group of version 2 that holds processes has no children with limits: look above it.
        above = own.parents if own.parts else (own,)
        for place in (own, *own.parents) if legacy else above:
            yield base / place, legacy


class Groups:
    """Makes control groups for one runtime.

    Args:
        name: Marks this runtime's groups; unlike any other's on this machine.
    """

    def __init__(
        self, name: str, hierarchies: Path = _HIERARCHIES, cgroups: Path = Path("/proc/self/cgroup")
    ) -> None:
        self._name, self._hierarchies, self._cgroups = name, hierarchies, cgroups
        self._made: list[ControlGroup] = []
        self._home: tuple[Path, bool] | None = None
        self._sought = False

    def make(self, container_id: str, limit_bytes: int) -> ControlGroup | None:
        """Make a group with a limit; None where this machine does not let us."""
        if not self._sought:
            self._sought = True
            self._home = self._find_home()
        if self._home is None:
            return None
        home, legacy = self._home
        group = ControlGroup(home / f"{self._name}-{container_id[:12]}", legacy)
        try:
            group.folder.mkdir(exist_ok=True)
            limit = "memory.limit_in_bytes" if legacy else "memory.max"
            (group.folder / limit).write_text(str(limit_bytes))
            swap = group.folder / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")
        except OSError:
            group.remove()
            return None
        self._made.append(group)
        return group

    def close(self) -> None:
        """Remove what is left of our groups."""
        for group in self._made:
            group.remove()

    def sweep(self) -> None:
        """Remove groups of this name that an earlier runtime has left."""
        self._find_home()

    def _find_home(self) -> tuple[Path, bool] | None:
        try:
            lines = self._cgroups.read_text()
        except OSError:
            return None
        for place, legacy in places(lines):
            folder = self._hierarchies / place
            trial = folder / f"{self._name}-trial"
            limit = "memory.limit_in_bytes" if legacy else "memory.max"
            try:
                for left in folder.glob(f"{self._name}-*"):
                    with contextlib.suppress(OSError):
                        left.rmdir()
                trial.mkdir()
            except OSError:
                continue
            usable = (trial / limit).exists()
            with contextlib.suppress(OSError):
                trial.rmdir()
            if usable:
                return folder, legacy
        return None


def resident_bytes(pids: set[int], page_bytes: int) -> int:
    """Add up what processes hold in memory; one that has gone holds nothing."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = Path(f"/proc/{pid}/statm").read_text().split()
            pages += int(fields[1]) - int(fields[2])  # what files share is not theirs alone
    return pages * page_bytes


def parents() -> dict[int, list[int]]:
    """Return every process's children."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # The name, in brackets, may hold anything, blanks too.
                after = (folder / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(after[1]), []).append(int(folder.name))
    return children


def family(root: int, children: dict[int, list[int]]) -> set[int]:
    """Return a process and all that descend from it."""
    found, left = {root}, [root]
    while left:
        for child in children.get(left.pop(), ()):
            if child not in found:
                found.add(child)
                left.append(child)
    return found
