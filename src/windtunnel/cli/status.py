"""``windtunnel status``: how one cluster is."""

from __future__ import annotations

import click

from windtunnel.assembly.state import Folder
from windtunnel.cli import options
from windtunnel.cli.show import show
from windtunnel.errors import ClusterError


def describe(folder: Folder) -> dict[str, object]:
    """Return the state of a cluster as a tree: running, starting, stopped or dead."""
    process = folder.process()
    if process is None:
        state = "starting" if folder.held else "stopped"
    else:
        state = "running" if process.alive else "dead"
    shown: dict[str, object] = {"name": folder.name, "state": state}
    if process is not None:
        shown |= {
            "pid": process.pid,
            "url": process.url,
            "kubeconfig": process.kubeconfig,
            "context": f"windtunnel-{folder.name}",
            "data": process.data or "ephemeral",
            "without": process.without,
        }
    return shown | {"folder": str(folder.path), "log": str(folder.log)}


@click.command()
@options.name
@options.output
def command(name: str, output: str) -> int:
    """Say how a cluster is; exit 3 unless it runs."""
    folder = Folder(name)
    if not folder.exists:
        raise ClusterError(f"there is no cluster {name}; start one with `windtunnel up`")
    shown = describe(folder)

    def lines() -> None:
        for field, value in shown.items():
            text = ", ".join(value) or "nothing" if isinstance(value, list) else value
            click.echo(f"{field + ':':<12}{text}")
        if shown["state"] == "dead":
            click.echo(
                f"Its process is gone without a farewell; `windtunnel up --name {name}` "
                "takes the cluster up again."
            )

    show(shown, output, lines)
    return 0 if shown["state"] == "running" else ClusterError.exit_code
