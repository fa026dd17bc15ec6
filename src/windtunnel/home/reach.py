"""From a cluster's name to a client for it, or to the sentence why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windtunnel.client import kubeconfig
from windtunnel.errors import ClusterError
from windtunnel.home.condition import state_of
from windtunnel.home.folder import Folder
from windtunnel.home.process import Process

if TYPE_CHECKING:
    from windtunnel.client.http import HttpClient

MANAGER = "windtunnel"


def find(name: str) -> Folder:
    """Return the folder of a cluster.

    Raises:
        ClusterError: there is no such cluster.
    """
    folder = Folder(name)
    if not folder.exists:
        raise ClusterError(
            f"there is no cluster {name}; start one with `windtunnel up --name {name}`"
        )
    return folder


def serving(name: str) -> tuple[Folder, Process]:
    """Return the folder and the living process of a cluster.

    Raises:
        ClusterError: there is no such cluster, or it does not run.
    """
    folder = find(name)
    state, process = state_of(folder), folder.process()
    if state == "running" and process is not None:
        return folder, process
    again = f"`windtunnel up --name {name}`"
    match state:
        case "starting":
            why = "is starting or stopping; try again"
        case "failed":
            ended = folder.remembered().ended
            why = f"stopped by itself: {ended}; {again} takes it up again (log: {folder.log})"
        case "dead":
            gone = f"its process {process.pid} is gone" if process else "its process is gone"
            why = f"has died: {gone}; {again} takes it up again (log: {folder.log})"
        case _:
            why = f"is not running; start it with {again}"
    raise ClusterError(f"cluster {name} {why}")


def reach(name: str) -> HttpClient:
    """Return a client for a running cluster, as its administrator."""
    from windtunnel.client.http import HttpClient

    folder, _ = serving(name)
    return HttpClient(kubeconfig.connection(folder.kubeconfig), MANAGER)
