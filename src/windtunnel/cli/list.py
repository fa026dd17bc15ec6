"""``windtunnel list``: all clusters of this user."""

from __future__ import annotations

import click

from windtunnel.cli import options
from windtunnel.cli.show import draw, show
from windtunnel.errors import DataError
from windtunnel.home import Folder, describe, folders


@click.command()
@options.output
def command(output: str) -> None:
    """List all clusters, running or not."""
    found = [_described(folder) for folder in folders()]

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


def _described(folder: Folder) -> dict[str, object]:
    """Describe a cluster; one whose folder cannot be read must not hide the others."""
    try:
        return describe(folder)
    except DataError as error:
        return {
            "name": folder.name,
            "state": "unreadable",
            "why": str(error),
            "folder": str(folder.path),
        }
