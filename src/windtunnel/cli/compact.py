"""``windtunnel compact``: forget the watch history, as etcd's compaction does."""

from __future__ import annotations

import click

from windtunnel.assembly import COMPACT_PATH
from windtunnel.cli import options
from windtunnel.errors import ClusterError
from windtunnel.home import reach


@click.command()
@options.name
def command(name: str) -> None:
    """Forget the watch history up to now.

    Whoever resumes a watch from before gets 410 Expired and lists anew.
    """
    client = reach(name)
    status, body = client.ask("POST", COMPACT_PATH)
    if status != 200:
        raise ClusterError(f"cluster {name} did not compact: {body.decode(errors='replace')[:200]}")
    click.echo(f"Cluster {name} has forgotten its watch history.")
