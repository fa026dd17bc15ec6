"""``windtunnel ledger``: the GPU account of a cluster."""

from __future__ import annotations

import click

from windtunnel.cli import options
from windtunnel.cli.reach import reach
from windtunnel.cli.show import draw, show
from windtunnel.devices import Ledger, take_ledger


def draw_ledger(ledger: Ledger) -> None:
    """Draw the account as a table: one line a node, and the totals."""
    draw(
        ("NODE", "PRODUCT", "#CAPACITY", "#ALLOCATABLE", "#PLACED", "#FREE"),
        [
            (node.name, node.product, node.capacity, node.allocatable, node.placed, node.free)
            for node in ledger.nodes
        ],
        footer=(
            "total",
            "",
            sum(node.capacity for node in ledger.nodes),
            ledger.allocatable_total,
            ledger.requested,
            ledger.free,
        ),
    )


@click.command()
@options.name
@click.option("-n", "--namespace", default="", metavar="NS", help="Say what this one holds, too.")
@options.output
def command(name: str, namespace: str, output: str) -> None:
    """Print the GPU account: what there is, what is spoken for, what is free.

    Spoken for are the limits of Pending and Running pods that have a node, in all namespaces.
    """
    client = reach(name)
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
