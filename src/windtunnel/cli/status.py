"""``windtunnel status``: how one cluster is."""

from __future__ import annotations

import click

from windtunnel.cli import options
from windtunnel.cli.show import show
from windtunnel.errors import ClusterError
from windtunnel.home import describe, find


@click.command()
@options.name
@options.output
def command(name: str, output: str) -> int:
    """Say how a cluster is; exit 3 unless it runs."""
    shown = describe(find(name))

    def lines() -> None:
        for field, value in shown.items():
            text = ", ".join(value) or "nothing" if isinstance(value, list) else value
            click.echo(f"{field + ':':<12}{text}")
        if shown["state"] == "dead":
            click.echo("Its process is gone without a farewell.")
        if shown["state"] in ("dead", "failed"):
            click.echo(f"`windtunnel up --name {name}` takes the cluster up again.")

    show(shown, output, lines)
    return 0 if shown["state"] == "running" else ClusterError.exit_code
