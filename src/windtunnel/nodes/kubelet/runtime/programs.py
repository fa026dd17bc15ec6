"""What containers find in their roots beside the machine's own folders: tools, files, our programs.

A root of a busybox image has the machine's busybox and its tools, where the machine has one; every
other has all of the machine's programs, with links in ``/bin`` to what scripts call there. Every
root sees the machine's Python, read-only; a root of our own images has this package too, and a
program for each agent.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from windtunnel.nodes.kubelet.network import served_at
from windtunnel.nodes.kubelet.runtime.images import PROGRAMS, Image
from windtunnel.nodes.kubelet.runtime.registries import Holding
from windtunnel.nodes.kubelet.runtime.root import Bind, Item, Link, OwnFolder, Text

SEARCH_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PYTHON: Final = "/bin/python3"
"""Where every container finds a Python, whatever else the machine has of it."""

_TOOLS: Final = """
ash bash cat chgrp chmod chown cp cut date dd df dmesg echo egrep env false fgrep grep gunzip
gzip head hostname id ip kill ln login ls mkdir mknod mktemp more mount mv netstat nice nproc
pidof ping printenv ps pwd rm rmdir sed sh sleep sort stat stty su sync tail tar test touch true
tty umount uname vi wc which zcat
"""
"""What scripts call by its path in ``/bin``; everything else is found in ``/usr/bin``."""
_PLACES: Final = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")
_SHELLS_OF_OUTSIDE: Final = frozenset({"sh", "ash"})
STAND_IN: Final = ("/bin/sh", "-c", "trap 'exit 0' TERM INT; sleep 2147483647 & wait")
"""The program of an image whose programs nobody knows: it sleeps, and ends when it is told to."""

_NAMES: Final = {
    "/etc/passwd": "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
}
"""Whom images know by name; a busybox image knows nobody, as the one that was recorded."""


@cache
def busybox() -> str:
    """Return the path of the machine's busybox; empty where it has none."""
    for place in _PLACES:
        path = Path(place, "busybox")
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return ""


@cache
def tools() -> Mapping[str, Item]:
    """Lay out ``/bin`` of links to the machine's tools, by the names that busybox has."""
    laid: dict[str, Item] = {}
    for name in _TOOLS.split():
        for place in _PLACES:
            path = Path(place, name)
            if path.exists():
                laid[f"/bin/{name}"] = (
                    Link(str(path)) if place.startswith("/usr/") else Bind(str(path.resolve()))
                )
                break
    if "/bin/ash" not in laid and "/bin/sh" in laid:
        laid["/bin/ash"] = Link("sh")
    return laid


@cache
def busybox_tools(box: str) -> Mapping[str, Item]:
    """Lay out a root that has busybox's tools and no others, but for what exec needs."""
    listed = subprocess.run([box, "--list"], capture_output=True, text=True, check=False)
    laid: dict[str, Item] = {
        "/usr": OwnFolder(),
        "/usr/bin": OwnFolder(),
        "/bin/busybox": Bind(box),
    }
    for name in sorted(entry.name for entry in Path("/usr").iterdir()):
        if name.startswith("lib") or name == "share":
            laid[f"/usr/{name}"] = Bind(f"/usr/{name}")
    for name in ("setpriv", "setsid"):
        path = f"/usr/bin/{name}"
        if Path(path).exists():
            laid[path] = Bind(path)
    return laid | {
        f"/bin/{name}": Link("busybox") for name in listed.stdout.split() if name != "busybox"
    }


def shell_level(argv: tuple[str, ...]) -> dict[str, str]:
    """Return what busybox's shell puts into the environment and the machine's may not."""
    if busybox() or not argv or argv[0].rpartition("/")[2] not in _SHELLS_OF_OUTSIDE:
        return {}
    return {"SHLVL": "1"}


def own_programs(interpreter: str, package: str) -> dict[str, Item]:
    """Write a program for each agent, as the original's images have them.

    Args:
        interpreter: The Python that runs this process, by the name that finds its packages.
        package: The folder that holds this package.
    """

    def start(words: str) -> Text:
        export = f"PYTHONPATH='{package}' PYTHONDONTWRITEBYTECODE=1"
        call = f"exec '{interpreter}' -m windtunnel{words}"
        return Text(f'#!/bin/sh\nexport {export}\n{call} "$@"\n', 0o755)

    return {
        path: start(f" agent {component}" if component else "")
        for path, component in sorted(PROGRAMS.items())
    }


def extras(image: Image, hostname: str, hosts: str, files: Mapping[str, Path]) -> dict[str, Item]:
    """Return what a container of an image finds, by path.

    Args:
        image: The image.
        hostname: The container's name of its host.
        hosts: The text of ``/etc/hosts``.
        files: Further files of our own images.
    """
    base = Path(sys.executable).resolve()
    box = busybox()
    laid: dict[str, Item] = {
        **(busybox_tools(box) if box and image.holding is Holding.BUSYBOX else tools()),
        "/etc/nsswitch.conf": Text("hosts: files dns\n"),
        "/etc/hostname": Text(f"{hostname}\n"),
        "/etc/hosts": Text(hosts),
        "/etc/resolv.conf": Text(_resolvers()),
        PYTHON: Link(str(base)),
    }
    if image.holding is not Holding.BUSYBOX:
        laid |= {path: Text(text) for path, text in _NAMES.items()}
    for folder in _outside_usr(sys.base_prefix, str(base.parent)):
        laid[folder] = Bind(folder)
    if isinstance(laid.get("/usr"), OwnFolder) and str(base).startswith("/usr/"):
        laid |= {path: Bind(path) for path in (f"{sys.base_prefix}/lib", str(base))}
    if image.holding is Holding.OURS:
        package = str(Path(__file__).parents[4])
        libraries = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        for folder in _outside_usr(sys.prefix, package, *libraries):
            laid[folder] = Bind(folder)
        laid |= own_programs(sys.executable, package)
        laid |= {path: Bind(str(file)) for path, file in files.items()}
    return laid


def _outside_usr(*folders: str) -> list[str]:
    """Return the folders that a root does not have yet, without those within another."""
    wanted = sorted({folder for folder in folders if not f"{folder}/".startswith("/usr/")})
    return [
        folder
        for folder in wanted
        if not any(folder.startswith(f"{other}/") for other in wanted if other != folder)
    ]


def _resolvers() -> str:
    try:
        return Path("/etc/resolv.conf").read_text()
    except OSError:
        return ""


def listening(image: Image, address: str) -> dict[str, str]:
    """Tell a program of ours on which address it is to listen: pods share the host's network."""
    host = served_at(address)
    if image.holding is not Holding.OURS or host == address:
        return {}
    return {"WINDTUNNEL_LISTEN_HOST": host}
