"""Files that change all at once: a reader sees what was before or what is now, never a mixture.

The files are in a folder with a time for a name, ``..data`` is a link to that folder, and the names
that a reader uses are links through ``..data``: switching that one link switches all. Source: the
kubelet's volumes of ConfigMaps and Secrets.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from time import gmtime, strftime
from typing import Final

from windtunnel.nodes.kubelet.volumes.payload import Files

_LINK: Final = "..data"
_STEP: Final = "..data_tmp"
_LOTS: Final = 2**32


def write_files(folder: Path, files: Files, now: float, group: int | None = None) -> bool:
    """Bring a volume's folder to hold exactly ``files``; return whether anything changed.

    Args:
        folder: The volume's; made where it is missing.
        files: What it is to hold.
        now: The time, for the name of the folder within.
        group: The group that may read them too, where the pod has one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    link = folder / _LINK
    past = link.resolve() if link.is_symlink() else None
    if past is not None and past.is_dir() and _holds(past, files, group):
        return False
    fresh = folder / (
        f"{strftime('..%Y_%m_%d_%H_%M_%S', gmtime(now))}.{secrets.randbelow(_LOTS):010d}"
    )
    fresh.mkdir(mode=0o755)
    for path, file in files.items():
        place = fresh / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(_mode(file.mode, group))
        if group is not None:
            os.chown(place, -1, group)
    step = folder / _STEP
    step.unlink(missing_ok=True)
    step.symlink_to(fresh.name)
    step.replace(link)
    _show(folder, {path.split("/")[0] for path in files})
    if past is not None:
        shutil.rmtree(past, ignore_errors=True)
    return True


def _holds(folder: Path, files: Files, group: int | None) -> bool:
    """Tell whether a folder holds exactly these files."""
    present = {
        str(path.relative_to(folder)): path for path in folder.rglob("*") if not path.is_dir()
    }
    return present.keys() == files.keys() and all(
        path.stat().st_mode & 0o7777 == _mode(files[name].mode, group)
        and path.read_bytes() == files[name].content
        for name, path in present.items()
    )


def _mode(mode: int, group: int | None) -> int:
    """A group that may read a file reads it whatever its own mode says."""
    return mode if group is None else mode | 0o440


def _show(folder: Path, names: set[str]) -> None:
    """Link the names of the first level through ``..data``; remove those that are no more."""
    for name in names:
        place = folder / name
        if not place.is_symlink():
            place.symlink_to(f"{_LINK}/{name}")
    for place in folder.iterdir():
        if place.is_symlink() and place.name not in names and place.name != _LINK:
            place.unlink()
