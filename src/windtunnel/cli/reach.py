"""From a cluster's name to a client for it, or to the sentence why there is none."""

from __future__ import annotations

from windtunnel.assembly.state import Folder, Process
from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.errors import ClusterError

MANAGER = "windtunnel"


def serving(name: str) -> tuple[Folder, Process]:
    """Return the folder and the living process of a cluster.

    Raises:
        ClusterError: there is no such cluster, or it does not run.
    """
    folder = Folder(name)
    again = f"windtunnel up --name {name}"
    if not folder.exists:
        raise ClusterError(f"there is no cluster {name}; start one with `{again}`")
    process = folder.process()
    if process is None:
        state = "is still starting" if folder.held else f"is not running; start it with `{again}`"
        raise ClusterError(f"cluster {name} {state}")
    if not process.alive:
        raise ClusterError(
            f"cluster {name} has died: its process {process.pid} is gone; "
            f"`{again}` takes it up again (log: {folder.log})"
        )
    return folder, process


def reach(name: str) -> HttpClient:
    """Return a client for a running cluster, as its administrator."""
    folder, _ = serving(name)
    return HttpClient(kubeconfig.connection(folder.kubeconfig), MANAGER)
