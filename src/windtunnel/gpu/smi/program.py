"""Where nvidia-smi is, and how a process becomes it.

The device plugin copies the file to the host, the runtime of our own node mounts it; neither
needs a word of Python.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

PROGRAM: Final = Path(__file__).with_name("nvidia-smi.sh")
"""The file that stands as ``/bin/nvidia-smi`` in containers."""


def run(arguments: Sequence[str]) -> NoReturn:
    """Become nvidia-smi with these arguments; the environment stays."""
    os.execv("/bin/sh", ["/bin/sh", str(PROGRAM), *arguments])
