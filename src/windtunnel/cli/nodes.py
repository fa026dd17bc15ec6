"""``windtunnel nodes add|list|remove``: fleets of played GPU nodes."""

from __future__ import annotations

import click

from windtunnel.cli import options
from windtunnel.cli.show import counted_nodes, draw, progress, show
from windtunnel.errors import UsageError
from windtunnel.home import reach
from windtunnel.nodes import DEFAULT_PRODUCT


@click.group()
def command() -> None:
    """Add, list and remove pools of GPU nodes."""


@command.command()
@options.name
@click.option(
    "--pool",
    required=True,
    metavar="POOL",
    help="The pool's name; its nodes are POOL-0, POOL-1, ….",
)
@click.option("--count", default=1, metavar="N", show_default=True, help="How many nodes to add.")
@click.option("--gpus", default=8, metavar="N", show_default=True, help="GPUs of each node.")
@click.option(
    "--product",
    default=DEFAULT_PRODUCT,
    metavar="MODEL",
    show_default=True,
    help="GPU model.",
)
@click.option(
    "--gpu-memory",
    default=0,
    metavar="MIB",
    help="Memory of one GPU, for a model not in the catalogue.",
)
@click.option("--cpu", default="", metavar="Q", help="CPU of each node; by default 24 a GPU.")
@click.option(
    "--memory", default="", metavar="Q", help="Memory of each node; by default 192Gi a GPU."
)
@click.option("--label", "labels", multiple=True, metavar="K=V", help="A label; repeatable.")
@click.option("--taint", "taints", multiple=True, metavar="K=V:EFFECT", help="A taint; repeatable.")
def add(
    name: str,
    pool: str,
    count: int,
    gpus: int,
    product: str,
    gpu_memory: int,
    cpu: str,
    memory: str,
    labels: tuple[str, ...],
    taints: tuple[str, ...],
) -> None:
    """Add nodes to a pool, which is made if it is not there."""
    from windtunnel.nodes import PoolOrder, check, parse_label, parse_taint
    from windtunnel.nodes.orders import add_nodes

    order = check(
        PoolOrder(
            name=pool,
            count=count,
            gpus=gpus,
            product=product,
            memory_mib=gpu_memory,
            cpu=cpu,
            memory=memory,
            labels=tuple(parse_label(text) for text in labels),
            taints=tuple(parse_taint(text) for text in taints),
        )
    )
    client = reach(name)
    with progress(count, "Adding nodes") as done:
        added = add_nodes(client, order, done)
    first, last = added[0], added[-1]
    span = first if count == 1 else f"{first} to {last}"
    click.echo(f"Added {counted_nodes(count)} to pool {pool}: {span}.")


@command.command("list")
@options.name
@options.output
def list_(name: str, output: str) -> None:
    """List the nodes of all pools."""
    from windtunnel.devices import GPU, PRODUCT_LABEL, pool_of
    from windtunnel.machinery.tree import dig
    from windtunnel.nodes.orders import pool_nodes

    nodes = [
        {
            "name": node["metadata"]["name"],
            "pool": pool_of(node),
            "product": dig(node, "metadata", "labels", PRODUCT_LABEL) or "",
            "gpus": int(dig(node, "status", "allocatable", GPU) or 0),
            "cpu": dig(node, "status", "allocatable", "cpu") or "",
            "memory": dig(node, "status", "allocatable", "memory") or "",
            "ready": any(
                condition.get("type") == "Ready" and condition.get("status") == "True"
                for condition in dig(node, "status", "conditions") or ()
            ),
        }
        for node in pool_nodes(reach(name))
    ]

    def table() -> None:
        if not nodes:
            click.echo("There are no pools; add one with `windtunnel nodes add --pool h100`.")
            return
        columns = ("NAME", "POOL", "PRODUCT", "#GPUS", "#CPU", "#MEMORY", "READY")
        rows = [[*list(node.values())[:-1], "yes" if node["ready"] else "no"] for node in nodes]
        draw(columns, rows)

    show(nodes, output, table)


@command.command()
@options.name
@click.option(
    "--pool", default="", metavar="POOL", help="Remove all nodes of this pool, and the pool."
)
@click.argument("names", nargs=-1)
def remove(name: str, pool: str, names: tuple[str, ...]) -> None:
    """Remove nodes by name, or a whole pool.

    A node that runs containers is none of them: its kubelet would register it again.
    """
    from windtunnel.nodes.orders import is_played, pool_nodes, remove_document, remove_nodes

    if bool(pool) == bool(names):
        raise UsageError("name either nodes or a --pool to remove")
    client = reach(name)
    doomed = list(dict.fromkeys(names))
    if pool:
        members = pool_nodes(client, pool)
        # Where there are none but such as run containers, the refusal says so.
        played = [node for node in members if is_played(node)] or members
        doomed = [node["metadata"]["name"] for node in played]
    with progress(len(doomed), "Removing nodes") as done:
        count = remove_nodes(client, doomed, done)
    if pool and not count and not remove_document(client, pool):
        raise UsageError(f"there is no pool {pool}")
    click.echo(f"Removed {counted_nodes(count)}.")
