"""``windtunnel down``: stop a cluster, and wait until it has let go of everything."""

from __future__ import annotations

from pathlib import Path

import click

from windtunnel.assembly.detach import end
from windtunnel.assembly.state import Folder
from windtunnel.cli import options
from windtunnel.client import kubeconfig
from windtunnel.errors import ClusterError


def stop(folder: Folder) -> str:
    """Stop a cluster; returns what was found: running, dead or stopped."""
    process = folder.process()
    if process is None:
        if folder.held:
            raise ClusterError(f"cluster {folder.name} is still starting; try again")
        return "stopped"
    if not process.alive:
        # It died without a farewell; do what it would have done.
        folder.forget_process()
        kubeconfig.remove_context(Path(process.kubeconfig), f"windtunnel-{folder.name}")
        return "dead"
    if not end(process):
        raise ClusterError(
            f"cluster {folder.name} (process {process.pid}) does not stop; see {folder.log}"
        )
    return "running"


@click.command()
@options.name
@click.option("--purge", is_flag=True, help="Delete the cluster's folder too, with all its data.")
def command(name: str, purge: bool) -> None:
    """Stop a cluster. Its data stays, unless it was ephemeral or --purge is given."""
    folder = Folder(name)
    if not folder.exists:
        raise ClusterError(f"there is no cluster {name}")
    found = stop(folder)
    said = {
        "running": f"Cluster {name} is down.",
        "dead": f"Cluster {name} had died; what it left behind is cleared away.",
        "stopped": f"Cluster {name} was not running.",
    }
    click.echo(said[found])
    if purge:
        folder.remove()
        click.echo(f"Deleted {folder.path}.")
