"""``windtunnel demo``: the main things in half a minute, on a cluster of its own.

First the way of a number, from a value of the operator's chart to a GPU in a container; then the
same on a fleet of nodes that run nothing, where the scheduler has to decide. Other clusters are not
touched, nor is the user's kubeconfig unless the cluster is kept.
"""

from __future__ import annotations

from time import monotonic
from typing import Final

import click

NAME: Final = "demo"


@click.command()
@click.option("--keep", is_flag=True, help="Leave the cluster running.")
def command(keep: bool) -> None:
    """Show the main things in half a minute, on a cluster of its own."""
    from windtunnel.assembly import Settings, start
    from windtunnel.cli.demo import device_path, fleet
    from windtunnel.cli.demo.show import Show, say
    from windtunnel.client.kubeconfig import default_path
    from windtunnel.home import Folder, stop
    from windtunnel.nodes import parse_order

    began = monotonic()
    folder = Folder(NAME)
    private = folder.path / "context"
    settings = Settings(
        name=NAME,
        kubeconfig=default_path().absolute() if keep else private,
        ephemeral=True,
        pools=tuple(parse_order(order) for order in fleet.POOLS),
    )
    process = start(settings, bound=not keep)
    kept = False
    try:
        click.secho(
            f"A cluster with {fleet.NODES} played GPU nodes and one that runs containers, "
            f"{monotonic() - began:.1f} s from nothing ({process.url}).",
            bold=True,
        )
        show = Show(NAME)
        device_path.play(show)
        fleet.play(show)
        kept = keep
    finally:
        if not kept:
            stop(folder)
            folder.remove()
    say("To go on:")
    if keep:
        click.echo(f"   kubectl --context windtunnel-{NAME} exec gpu-1 -- nvidia-smi")
        click.echo(f"   kubectl --context windtunnel-{NAME} describe pod waits")
        click.echo(f"   windtunnel nodes add --name {NAME} --pool h100 --count 1    # lets it run")
        click.echo(f"   windtunnel ledger --name {NAME}")
        click.echo(f"   windtunnel down --name {NAME} --purge")
    else:
        click.echo("   windtunnel demo --keep                    # the same, to look around in")
        click.echo("   windtunnel up --detach --nodes h100:4x8   # a cluster of your own")
        click.echo("   windtunnel kubectl -- get nodes")
        click.echo("   windtunnel ledger")
    took = monotonic() - began
    click.echo(f"\n{took:.1f} s. The GPUs were numbers: no CUDA, no memory isolation, no speed.")
