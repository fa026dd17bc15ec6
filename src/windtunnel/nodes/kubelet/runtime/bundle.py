"""The folder of a container: its root as it stands before anything is mounted, and its plan.

Where the machine allows no namespaces the root is a folder in which the mounts of the order are
links; the program runs on the machine itself, finds that folder in ``WINDTUNNEL_ROOT``, and its own
programs by its search path.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from windtunnel.nodes.kubelet.hosts_file import hosts_text
from windtunnel.nodes.kubelet.runtime import programs
from windtunnel.nodes.kubelet.runtime.images import Image
from windtunnel.nodes.kubelet.runtime.isolation import EntryPlan, Identity, Tools, write_plan
from windtunnel.nodes.kubelet.runtime.memory import ControlGroup
from windtunnel.nodes.kubelet.runtime.protocol import ContainerOrder, CreateFailed
from windtunnel.nodes.kubelet.runtime.registries import Holding
from windtunnel.nodes.kubelet.runtime.root import Bind, RootPlan, Text, plan_root

_OPEN_TO_ALL: Final = frozenset({"/tmp", "/var/tmp"})


class OwnFiles:
    """The machine this runs on."""

    def exists(self, path: str) -> bool:
        """Whether something is there; a link counts as what it is."""
        return os.path.lexists(path)

    def link(self, path: str) -> str | None:
        """Where the link leads, None where it is no link."""
        try:
            return str(Path(path).readlink())
        except OSError:
            return None

    def entries(self, path: str) -> list[str]:
        """Names in the folder."""
        try:
            return [entry.name for entry in Path(path).iterdir()]
        except OSError:
            return []


@dataclass(frozen=True, slots=True)
class Bundle:
    """A container that could be started."""

    folder: Path
    identity: Identity
    environment: dict[str, str]
    working_dir: str
    asleep: bool
    patient: bool
    """Whether its program may be told several times to end: it is ours, or sleeps."""


def identity_of(order: ContainerOrder) -> Identity:
    """Tell as whom a container runs; its own group is among its groups, as containerd has it."""
    group = order.group or 0
    groups = tuple(dict.fromkeys((group, *order.groups)))
    return Identity(order.user or 0, group, groups, order.privileged)


def environment_of(order: ContainerOrder, image: Image) -> dict[str, str]:
    """Return the environment of a container's programs: the order's goes before the image's."""
    return {
        "PATH": programs.SEARCH_PATH,
        "HOSTNAME": order.hostname,
        **({"TERM": "xterm"} if order.tty else {}),
        "HOME": "/",
        **programs.listening(image, order.address),
        **dict(order.environment),
    }


def argv_of(order: ContainerOrder, image: Image) -> tuple[str, ...]:
    """Return the program and its arguments; of an unknown image's own program nothing is known."""
    args = order.args or ()
    if order.command is not None:
        return (*order.command, *args)
    if image.holding is Holding.OURS:
        return (f"/bin/{image.component or 'windtunnel'}", *args)
    if image.holding is Holding.BUSYBOX:
        return args or ("sh",)
    return args


def stand_in_of(order: ContainerOrder, image: Image, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return what runs where the program is missing: nothing where all of its files are known."""
    known = image.holding is not Holding.UNKNOWN or any(
        f"{argv[0]}/".startswith(f"{mount.container_path}/") for mount in order.mounts
    )
    return () if known else programs.STAND_IN


def check_sources(order: ContainerOrder, container_id: str) -> None:
    """Make the folders of mounts that are missing; raises CreateFailed for a missing device."""
    for mount in order.mounts:
        if not os.path.lexists(mount.host_path):
            try:
                Path(mount.host_path).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                words = (error.strerror or "").lower()
                raise CreateFailed(
                    f'failed to generate container "{container_id}" spec: failed to generate '
                    f'spec: failed to mkdir "{mount.host_path}": mkdir {error.filename}: {words}'
                ) from None
    for device in order.devices:
        if not os.path.lexists(device.host_path):
            raise CreateFailed(
                f'failed to generate container "{container_id}" spec: failed to generate spec: '
                f"lstat {device.host_path}: no such file or directory"
            )


def make_bundle(
    folder: Path,
    order: ContainerOrder,
    image: Image,
    tools: Tools,
    *,
    group: ControlGroup | None,
    files: Mapping[str, Path],
    isolated: bool,
) -> Bundle:
    """Write a container's folder.

    Args:
        folder: Where; it must not exist.
        order: What is wanted.
        image: What it is made of.
        tools: The programs that will start it.
        group: The control group it joins.
        files: Further files of our own images.
        isolated: Whether it gets namespaces.
    """
    environment = environment_of(order, image)
    argv = argv_of(order, image)
    asleep = not argv
    if asleep:
        argv = programs.STAND_IN
    stand_in = stand_in_of(order, image, argv)
    hosts = hosts_text(order.address, [order.hostname])
    found = programs.extras(image, order.hostname, hosts, files)
    root = folder / "root"
    root.mkdir(parents=True)
    working_dir = order.working_dir or "/"
    if isolated:
        layout = plan_root(OwnFiles(), extras=found, mounts=order.mounts, devices=order.devices)
        lay_out(root, layout)
        mounts = layout.mounts
    else:
        mounts = ()
        working_dir = _lay_out_plainly(root, order, found, working_dir)
        own = f"{root}/bin:{root}/usr/local/bin"
        environment |= {
            "PATH": f"{own}:{environment['PATH']}",
            "WINDTUNNEL_ROOT": str(root),
        }
        argv = tuple(_plain_path(root, word) for word in argv)
    identity = identity_of(order)
    plan = EntryPlan(
        identity=identity,
        mounts=mounts,
        argv=argv,
        environment={**programs.shell_level(argv), **environment},
        working_dir=working_dir,
        hostname=order.hostname,
        stand_in=stand_in,
        group=str(group.procs) if group else "",
        read_only=order.read_only_root,
        terminal=order.tty,
        private=isolated,
    )
    write_plan(folder, plan, tools)
    patient = asleep or image.holding is Holding.OURS
    return Bundle(folder, identity, environment, working_dir, asleep, patient)


def lay_out(root: Path, plan: RootPlan) -> None:
    """Make what a root has of its own."""
    root.mkdir(parents=True, exist_ok=True)
    for path in plan.folders:
        place = Path(f"{root}{path}")
        place.mkdir(parents=True, exist_ok=True)
        if path in _OPEN_TO_ALL:
            place.chmod(0o1777)
    patterns = root.parent.parent / "links"
    patterns.mkdir(exist_ok=True)
    for path, target in plan.links:
        _link(f"{root}{path}", target, patterns)
    for path, text in plan.files:
        _write(Path(f"{root}{path}"), text)


def _link(place: str, target: str, patterns: Path) -> None:
    """Make a symbolic link: another name of one that is there, which costs a tenth."""
    pattern = f"{patterns}/{quote(target, safe='')}"
    try:
        os.link(pattern, place, follow_symlinks=False)
    except OSError:  # there is none yet, or it has as many names as it may
        os.symlink(target, place)  # noqa: PTH211 - a Path for each would double the cost
        with contextlib.suppress(OSError):
            os.link(place, pattern, follow_symlinks=False)


def _lay_out_plainly(
    root: Path, order: ContainerOrder, found: Mapping[str, object], working_dir: str
) -> str:
    """Link the order's mounts and write our programs; returns the working directory."""
    for path, item in found.items():
        place = Path(f"{root}{path}")
        if isinstance(item, Text) and "/bin/" in path:
            place.parent.mkdir(parents=True, exist_ok=True)
            _write(place, item)
        elif isinstance(item, Bind) and path.startswith("/bin/") and path != "/bin/busybox":
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(item.source)
    for mount in sorted(order.mounts, key=lambda mount: mount.container_path.count("/")):
        place = Path(f"{root}{mount.container_path}")
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(mount.host_path)
    return working_dir if Path(working_dir).is_dir() else str(root)


def _plain_path(root: Path, word: str) -> str:
    """Return where a word that names something mounted leads without a root of its own."""
    return f"{root}{word}" if word.startswith("/") and Path(f"{root}{word}").exists() else word


def _write(place: Path, text: Text) -> None:
    place.write_text(text.content, encoding="utf-8")
    place.chmod(text.mode)


def remove_bundle(folder: Path) -> None:
    """Remove a container's folder, whatever its programs did to their files."""

    def make_writable(_: object, path: str, __: object) -> None:
        for place in (Path(path).parent, Path(path)):
            if not place.is_symlink():
                with contextlib.suppress(OSError):
                    place.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)

    shutil.rmtree(folder, onerror=make_writable)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
