"""How a cluster is, from the outside: running, starting, stopped, failed or dead; and ending it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from windtunnel.client import kubeconfig
from windtunnel.errors import ClusterError
from windtunnel.home.folder import Folder

State = Literal["running", "starting", "stopped", "failed", "dead"]
"""``failed``: it stopped by itself and left word; ``dead``: its process is gone without any."""


def state_of(folder: Folder) -> State:
    """Say how a cluster is.

    Raises:
        DataError: its folder cannot be read.
    """
    process = folder.process()
    if process is not None:
        return "running" if process.alive else "dead"
    if folder.held:
        return "starting"
    return "failed" if folder.remembered().ended else "stopped"


def describe(folder: Folder) -> dict[str, object]:
    """Return how a cluster is, and where its things are, as a tree.

    Raises:
        DataError: its folder cannot be read.
    """
    state, process, remembered = state_of(folder), folder.process(), folder.remembered()
    shown: dict[str, object] = {"name": folder.name, "state": state}
    if state == "failed":
        shown["why"] = remembered.ended
    if process is not None:
        shown |= {
            "pid": process.pid,
            "url": process.url,
            "kubeconfig": process.kubeconfig,
            "context": folder.context,
            "without": process.without,
        }
        data = process.data
    else:
        data = remembered.data
    return shown | {
        "data": data or "ephemeral",
        "folder": str(folder.path),
        "log": str(folder.log),
    }


def stop(folder: Folder) -> State:
    """Stop a cluster, or clear away what a dead one left behind; returns how it was.

    Raises:
        ClusterError: it is just starting, or does not stop.
        DataError: its folder cannot be read.
    """
    state, process = state_of(folder), folder.process()
    if state == "starting":
        raise ClusterError(f"cluster {folder.name} is starting or stopping; try again")
    if process is None:
        return state
    if state == "dead":
        # It died without a farewell; do what it would have done.
        folder.forget_process()
        kubeconfig.remove_context(Path(process.kubeconfig), folder.context)
    elif not process.end():
        raise ClusterError(
            f"cluster {folder.name} (process {process.pid}) does not stop; see {folder.log}"
        )
    return state
