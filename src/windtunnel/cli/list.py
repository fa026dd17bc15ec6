"""``windtunnel list``: all clusters of this user."""

from __future__ import annotations

import click

from windtunnel.assembly.state import folders
from windtunnel.cli import options
from windtunnel.cli.show import draw, show
from windtunnel.cli.status import describe


@click.command()
@options.output
def command(output: str) -> None:
    """List all clusters, running or not."""
    found = [describe(folder) for folder in folders()]

    def table() -> None:
        if not found:
            click.echo("There are no clusters; start one with `windtunnel up`.")
            return
        columns = ("name", "state", "pid", "url", "data")
        draw(
            [column.upper() for column in columns],
            [[cluster.get(column, "-") for column in columns] for cluster in found],
        )

    show(found, output, table)
