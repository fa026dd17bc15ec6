"""Files that a device plugin leaves on its host, for containers that it knows nothing of.

Source: fake-gpu-operator 0.2: what is missing or older than the image's own is replaced.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from windtunnel.gpu.smi import PROGRAM

_PROGRAM: Final = "bin/nvidia-smi"
_STUBS: Final = ("shared/memory/preloader.so", "shared/pid/preloader.so")
_HOST: Final = "runai"


def leave_files(root: Path) -> None:
    """Bring nvidia-smi and the stubs for preloading to the host, as far as the image has them.

    An image without an nvidia-smi of its own leaves the one of this package.

    Raises:
        OSError: the host's folder cannot be written.
    """
    program = root / _PROGRAM
    if program.is_file():
        _leave(program, root / _HOST / _PROGRAM)
    else:
        _leave(PROGRAM, root / _HOST / _PROGRAM, mode=0o755)
    for stub in _STUBS:
        if (root / stub).is_file():
            _leave(root / stub, root / _HOST / stub)


def _leave(source: Path, target: Path, mode: int | None = None) -> None:
    try:
        if target.stat().st_mtime >= source.stat().st_mtime:
            return
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
    # In one go: a container may start while we write.
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        shutil.copy2(source, fresh)
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
