"""``windtunnel up``: start a cluster, here or in a process of its own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import click

from windtunnel.assembly import (
    PARTS,
    WITHOUT_EFFECT,
    Settings,
    choose_plugins,
    parse_flag,
    start,
)
from windtunnel.cli import options
from windtunnel.cli.root import INTERRUPTED
from windtunnel.cli.show import counted_nodes
from windtunnel.client.kubeconfig import default_path
from windtunnel.home import Folder, Process
from windtunnel.nodes import PoolOrder, parse_order


@click.command()
@options.name
@click.option(
    "--data-dir",
    type=options.PATH,
    metavar="D",
    help="Where data lives, made if missing; by default where it has lived so far.",
)
@click.option("--ephemeral", is_flag=True, help="Keep everything in memory only.")
@click.option(
    "--port",
    type=int,
    metavar="P",
    help="0: any free one; by default 6443 if free, else any.",
)
@click.option("--detach", is_flag=True, help="Return when a pod can be created.")
@click.option(
    "--kubeconfig",
    type=options.PATH,
    metavar="F",
    help="File to merge a context into; by default the one that kubectl writes to.",
)
@click.option(
    "--nodes",
    "orders",
    multiple=True,
    metavar="SPEC",
    help="A pool that is there from the start, such as h100:100x8 or pool=h100,count=100,gpus=8; "
    "also product, gpu-memory, cpu, memory, label, taint; repeatable.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="PARTS",
    help=f"Leave parts out, for the real ones to take their place: {','.join(PARTS)}.",
)
@click.option(
    "--no-operator",
    is_flag=True,
    help="Do not install the fake GPU operator; `helm install` may, later.",
)
@click.option(
    "--enable-admission-plugins",
    "enabled",
    multiple=True,
    metavar="NAMES",
    help="Switch on what is off by default: ExtendedResourceToleration.",
)
@click.option(
    "--disable-admission-plugins",
    "disabled",
    multiple=True,
    metavar="NAMES",
    help="Switch admission plugins of kube-apiserver off, such as ServiceAccount.",
)
@click.option(
    "--scheduler-config",
    type=options.PATH,
    metavar="F",
    help="A KubeSchedulerConfiguration, as kube-scheduler --config reads it.",
)
@click.option(
    "--token-auth-file",
    type=options.PATH,
    metavar="F",
    help='Static tokens, as lines of token,name,uid,"group1,group2".',
)
@click.option(
    "--controller-arg",
    "controller_args",
    multiple=True,
    metavar="NAME=VALUE",
    help="A flag of kube-controller-manager that our controllers know too, "
    "such as node-monitor-grace-period=40s; repeatable.",
)
@click.option(
    "--node-arg",
    "node_args",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of played nodes, such as lease-duration-seconds=8; repeatable.",
)
def command(
    name: str,
    data_dir: Path | None,
    ephemeral: bool,
    port: int | None,
    detach: bool,
    kubeconfig: Path | None,
    orders: tuple[str, ...],
    without: tuple[str, ...],
    no_operator: bool,
    enabled: tuple[str, ...],
    disabled: tuple[str, ...],
    scheduler_config: Path | None,
    token_auth_file: Path | None,
    controller_args: tuple[str, ...],
    node_args: tuple[str, ...],
) -> int:
    """Start a cluster and merge a context for it into the kubeconfig.

    In the foreground it logs, and stops cleanly on Ctrl-C.
    """
    settings = Settings(
        name=name,
        kubeconfig=kubeconfig or default_path().expanduser().absolute(),
        port=port,
        data_dir=data_dir,
        ephemeral=ephemeral,
        without=_words(without),
        operator=not no_operator,
        admission_plugins=choose_plugins(_words(enabled), _words(disabled)),
        token_file=token_auth_file,
        scheduler_file=scheduler_config,
        pools=tuple(parse_order(text) for text in orders),
        flags=(
            *_controller_flags(controller_args),
            *(parse_flag("nodes", text) for text in node_args),
        ),
    )
    folder = Folder(name)
    if detach:
        process = start(settings)
        # It is up: an interrupt comes too late to undo it, and must not hide that.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        click.echo(f"{_welcome(folder, process)}.")
        _tell_pools(settings.pools)
        return 0

    from windtunnel.assembly.serve import serve

    def ready(process: Process) -> None:
        click.echo(f"{_welcome(folder, process)}; stop it with Ctrl-C.", err=True)
        _tell_pools(settings.pools)

    ended_by = serve(settings, ready, echo=True)
    kept = "" if ephemeral else f"; its data is in {folder.remembered().data}"
    click.echo(f"Cluster {name} is down{kept}.", err=True)
    return INTERRUPTED if ended_by == signal.SIGINT else 0


def _controller_flags(texts: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Read the flags of controllers; tell of each that the real ones have and ours need not."""
    for text in texts:
        flag = parse_flag("controllers", text)
        if flag[1] in WITHOUT_EFFECT:
            click.echo(f"Flag {flag[1]} changes nothing: {WITHOUT_EFFECT[flag[1]]}.", err=True)
        else:
            yield flag


def _tell_pools(pools: tuple[PoolOrder, ...]) -> None:
    """Say what GPUs the pools have: a name that is no model's gets the usual one."""
    for pool in pools:
        nodes = counted_nodes(pool.count)
        click.echo(f"Pool {pool.name}: {nodes} of {pool.gpus} {pool.product}.", err=True)


def _words(lists: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.strip() for text in lists for word in text.split(",") if word)


def _welcome(folder: Folder, process: Process) -> str:
    usual = process.data in ("", str(folder.default_data))
    where = "" if usual else f" with its data in {process.data}"
    return f"Cluster {folder.name} is up at {process.url} (context {folder.context}){where}"
