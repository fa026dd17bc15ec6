"""``windtunnel version``: ours, and the release of Kubernetes that is imitated."""

from __future__ import annotations

import click

import windtunnel
from windtunnel.cli import options
from windtunnel.cli.show import show

KUBERNETES = "v1.36.3"


@click.command()
@options.output
def command(output: str) -> None:
    """Print the version, and the release of Kubernetes that is imitated."""
    versions = {"windtunnel": windtunnel.__version__, "kubernetes": KUBERNETES}
    show(versions, output, lambda: click.echo(
        f"windtunnel {versions['windtunnel']} (as Kubernetes {versions['kubernetes']})"
    ))  # fmt: skip
