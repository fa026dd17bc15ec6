"""What a container's private root is made of: folders of its own, and binds of what it may see.

Pure: what the machine looks like is asked of ``MachineFiles``, so that a table can lay it out. A
bind of the machine is read-only, so nothing can be mounted where it has no such file or folder:
there the bind is dissolved into a folder of the container's own whose entries are bound one by one,
as far down as the mount needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from windtunnel.nodes.kubelet.runtime.protocol import DeviceNode, Mount

_FOLDERS: Final = (
    *("/bin", "/dev", "/etc", "/home", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/sys"),
    *("/tmp", "/var", "/var/lib", "/var/log", "/var/tmp"),
)
_SYSTEM: Final = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_ETC: Final = (
    *("alternatives", "ca-certificates", "crypto-policies", "ld.so.cache", "localtime", "pki"),
    *("protocols", "services", "ssl"),
)
_DEVICES: Final = ("full", "null", "random", "tty", "urandom", "zero")
_DEVICE_LINKS: Final = {
    "/dev/fd": "/proc/self/fd",
    "/dev/ptmx": "pts/ptmx",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
}
_LINKS_AT_MOST: Final = 40


class MachineFiles(Protocol):
    """What can be seen of the machine's files."""

    def exists(self, path: str) -> bool:
        """Whether something is there; a link counts as what it is."""
        ...

    def link(self, path: str) -> str | None:
        """Where the link leads, None where it is no link."""
        ...

    def entries(self, path: str) -> Iterable[str]:
        """Names in the folder."""
        ...


@dataclass(frozen=True, slots=True)
class Bind:
    """Something of the machine at a place of the container; ``ours`` may be dissolved."""

    source: str
    read_only: bool = True
    ours: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link of the container's own."""

    to: str


@dataclass(frozen=True, slots=True)
class Text:
    """A file of the container's own."""

    content: str
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """A folder of the container's own."""


Item = Bind | Link | Text | OwnFolder


@dataclass(frozen=True, slots=True)
class RootPlan:
    """How to make a root: folders, links and files to write, then mounts in order.

    A mount is (kind, source, target): "bind", "bind-ro", "proc", "tmpfs" or "devpts".
    """

    folders: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, Text], ...]
    mounts: tuple[tuple[str, str, str], ...]


def plan_root(
    machine: MachineFiles,
    *,
    extras: Mapping[str, Item],
    mounts: Iterable[Mount],
    devices: Iterable[DeviceNode],
) -> RootPlan:
    """Lay a root out.

    Args:
        machine: What can be bound.
        extras: What the image brings, by path: programs, files, folders of the machine.
        mounts: The order's mounts; shallow ones first, as a deep one may lie within.
        devices: The order's device nodes.
    """
    shape = _Shape(machine)
    for folder in _FOLDERS:
        shape.items[folder] = OwnFolder()
    for path in _SYSTEM:
        target = machine.link(path)
        if target is not None:
            shape.items[path] = Link(target)
        elif machine.exists(path):
            shape.items[path] = Bind(path)
    for name in _ETC:
        if machine.exists(f"/etc/{name}"):
            shape.items[f"/etc/{name}"] = Bind(f"/etc/{name}")
    for name in _DEVICES:
        if machine.exists(f"/dev/{name}"):
            shape.items[f"/dev/{name}"] = Bind(f"/dev/{name}", read_only=False)
    shape.items |= {path: Link(to) for path, to in _DEVICE_LINKS.items()}
    shape.items["/var/run"] = Link("../run")
    shape.items["/sys"] = Bind("/sys")
    for path, item in sorted(extras.items(), key=lambda extra: _depth(extra[0])):
        shape.place(path, item)
    special = (("proc", "proc", "/proc"), ("devpts", "devpts", "/dev/pts"))
    after: list[tuple[str, str, str]] = []
    for mount in sorted(mounts, key=lambda mount: _depth(mount.container_path)):
        kind = "bind-ro" if mount.read_only else "bind"
        path = shape.make_way(mount.container_path)
        after.append((kind, mount.host_path, path))
        shape.items[path] = Bind(mount.host_path, read_only=mount.read_only, ours=False)
    for device in devices:
        path = shape.make_way(device.container_path)
        after.append(("bind", device.host_path, path))
    taken = {target for _, _, target in after}
    plan = shape.plan()
    return RootPlan(
        folders=plan.folders,
        links=plan.links,
        files=plan.files,
        mounts=(
            *plan.mounts,
            *special,
            *(() if "/dev/shm" in taken else (("tmpfs", "shm", "/dev/shm"),)),
            *after,
        ),
    )


def _steps(path: str) -> list[str]:
    """The steps of a path, the last one first."""
    return [step for step in path.split("/") if step and step != "."][::-1]


def _depth(path: str) -> int:
    return path.count("/")


@dataclass(slots=True)
class _Shape:
    """The root as it is being laid out."""

    machine: MachineFiles
    items: dict[str, Item] = field(default_factory=dict)

    def place(self, path: str, item: Item) -> None:
        """Put an item at a path, through links, making way for it."""
        self.items[self.make_way(path)] = item

    def make_way(self, path: str) -> str:
        """Return where ``path`` leads; something can be made or mounted there now."""
        parent = path.rpartition("/")[0]
        if path not in self.items and isinstance(self.items.get(parent), OwnFolder):
            return path  # as nearly all of them: nothing to follow, nothing in the way
        path = self._follow(path)
        if self._seen(path) is None:
            while (above := self._above(path)) is not None:
                bind = self.items[above]
                if not isinstance(bind, Bind) or not bind.ours:
                    break
                self._dissolve(above, bind)
        return path

    def plan(self) -> RootPlan:
        """Sort what was laid out into what is made and what is mounted."""
        order = sorted(self.items, key=lambda path: (_depth(path), path))
        folders, links, files, mounts = [], [], [], []
        for path in order:
            match self.items[path]:
                case OwnFolder():
                    folders.append(path)
                case Link(to):
                    links.append((path, to))
                case Text() as text:
                    files.append((path, text))
                case Bind(source, read_only, ours):
                    if ours:
                        mounts.append(("bind-ro" if read_only else "bind", source, path))
        return RootPlan(tuple(folders), tuple(links), tuple(files), tuple(mounts))

    def _above(self, path: str) -> str | None:
        """The nearest item that stands over a path."""
        while path:
            path = path.rpartition("/")[0]
            if path in self.items:
                return path
        return None

    def _seen(self, path: str) -> Item | None:
        """What the container would see at a path, None where nothing."""
        item = self.items.get(path)
        if item is not None:
            return item
        above = self._above(path)
        bind = self.items.get(above) if above is not None else None
        if above is None or not isinstance(bind, Bind):
            return None
        source = bind.source.rstrip("/") + path[len(above) :]
        target = self.machine.link(source)
        if target is not None:
            return Link(target)
        return Bind(source) if self.machine.exists(source) else None

    def _follow(self, path: str) -> str:
        left = _steps(path)
        where: list[str] = []
        links = 0
        while left:
            part = left.pop()
            if part == "..":
                del where[-1:]
                continue
            item = self._seen("/" + "/".join((*where, part)))
            if not isinstance(item, Link) or links == _LINKS_AT_MOST:
                where.append(part)
                continue
            links += 1
            if item.to.startswith("/"):
                where = []
            left += _steps(item.to)
        return "/" + "/".join(where)

    def _dissolve(self, path: str, bind: Bind) -> None:
        self.items[path] = OwnFolder()
        for name in sorted(self.machine.entries(bind.source)):
            source = f"{bind.source.rstrip('/')}/{name}"
            target = self.machine.link(source)
            self.items[f"{path}/{name}"] = (
                Link(target) if target is not None else Bind(source, bind.read_only)
            )
