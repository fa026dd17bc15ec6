"""The process that serves a cluster, known by its id and its start time together.

An id alone would not do: the system gives it to another process one day, which must not pass for
ours, nor be asked to end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PATIENCE_SECONDS: Final = 20.0
"""How long a cluster may take to stop: what is under way is let out, the store is flushed."""
PROBE_SECONDS: Final = 0.02
_PR_SET_PDEATHSIG: Final = 1
"""Source: Linux, prctl(2)."""


@dataclass(frozen=True, slots=True)
class Process:
    """The process that serves a cluster, as it has written itself down."""

    pid: int
    started: str
    """Start time as the kernel counts it, with the boot it belongs to; "" where neither is told."""
    url: str
    kubeconfig: str
    """The user's file that the context was merged into."""
    data: str
    """The data folder; "" for an ephemeral cluster."""
    without: list[str] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return _exists(self.pid) and birth(self.pid) == self.started

    def end(self) -> bool:
        """Ask the process to end and wait until it has; returns whether it did so in time."""
        if not self.alive:
            return True
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        pause = threading.Event()
        for _ in range(int(PATIENCE_SECONDS / PROBE_SECONDS)):
            if not self.alive:
                return True
            pause.wait(PROBE_SECONDS)
        return not self.alive


def end_with_parent(parent: int, number: signal.Signals = signal.SIGTERM) -> None:
    """Have the kernel send this process a signal when its parent is gone; only Linux can.

    Args:
        parent: Who the parent is known to be; one that has gone already counts, too.
        number: What is sent.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def birth(pid: int) -> str:
    """Return when a process was started, in a form that no later process of that id repeats.

    A process that has ended and only waits to be collected by its parent counts as gone.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    # The name in parentheses may hold spaces; fields are counted from after it.
    fields = stat.rpartition(")")[2].split()
    state, start_time = fields[0], fields[19]
    return "" if state in "ZX" else f"{boot}:{start_time}"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
