"""``windtunnel ledger``: the GPU account of a cluster."""

from __future__ import annotations

import click

from windtunnel.cli import options
from windtunnel.cli.show import draw_ledger, show
from windtunnel.devices import take_ledger
from windtunnel.errors import UsageError
from windtunnel.home import reach
from windtunnel.machinery.tree import Key


@click.command()
@options.name
@click.option("-n", "--namespace", default="", metavar="NS", help="Say what this one holds, too.")
@options.output
def command(name: str, namespace: str, output: str) -> None:
    """Print the account of nvidia.com/gpu: what there is, what is spoken for, what is free.

    Spoken for are the limits of Pending and Running pods that have a node, in all namespaces.
    Slices (nvidia.com/mig-...) are resources of their own and not counted; a shared GPU counts as
    often as it is offered.
    """
    client = reach(name)
    if namespace and client.get("namespaces", Key("", namespace)) is None:
        raise UsageError(f"there is no namespace {namespace}")
    nodes, pods = client.list("nodes"), client.list("pods")
    ledger = take_ledger(nodes, pods)
    tree = ledger.to_tree()
    if namespace:
        held = take_ledger(nodes, pods, namespace=namespace).requested
        tree["namespace"] = {"name": namespace, "requested": held}

    def table() -> None:
        if not ledger.nodes:
            click.echo("There are no GPU nodes; add some with `windtunnel nodes add --pool h100`.")
            return
        draw_ledger(ledger)
        if namespace:
            click.echo(f"Namespace {namespace} holds {tree['namespace']['requested']} GPUs.")

    show(tree, output, table)
