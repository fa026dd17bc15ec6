"""``windtunnel down``: stop a cluster, and wait until it has let go of everything."""

from __future__ import annotations

from typing import Final

import click

from windtunnel.cli import options
from windtunnel.home import State, find, stop

_SAID: Final[dict[State, str]] = {
    "running": "is down",
    "dead": "had died; what it left behind is cleared away",
    "failed": "had stopped by itself",
    "stopped": "was not running",
}


@click.command()
@options.name
@click.option("--purge", is_flag=True, help="Delete the cluster's folder too, with all its data.")
def command(name: str, purge: bool) -> None:
    """Stop a cluster. Its data stays, unless it was ephemeral or --purge is given."""
    folder = find(name)
    state = stop(folder)
    if state in ("dead", "failed"):
        from windtunnel.assembly.leavings import clear_node

        clear_node(folder.node)
    click.echo(f"Cluster {name} {_SAID[state]}.")
    if purge:
        elsewhere = folder.remembered().data
        folder.remove()
        click.echo(f"Deleted {folder.path}.")
        if elsewhere and elsewhere != str(folder.default_data):
            click.echo(f"Its data in {elsewhere} is left as it is.")
