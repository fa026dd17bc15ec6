"""``windtunnel up``: start a cluster, in the foreground or detached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from windtunnel.assembly.settings import PARTS, Settings, parse_flag
from windtunnel.assembly.state import Folder, Process
from windtunnel.cli import options
from windtunnel.client.kubeconfig import default_path

PATH = click.Path(path_type=Path)


@click.command()
@options.name
@click.option("--data-dir", type=PATH, metavar="D", help="Where data lives; made if missing.")
@click.option("--ephemeral", is_flag=True, help="Keep everything in memory only.")
@click.option("--port", default=0, metavar="P", help="By default 6443 if free, else any free one.")
@click.option("--detach", is_flag=True, help="Return when a pod can be created.")
@click.option(
    "--kubeconfig",
    type=PATH,
    metavar="F",
    help="File to merge a context into; by default the one that kubectl writes to.",
)
@click.option(
    "--nodes",
    "orders",
    multiple=True,
    metavar="SPEC",
    help="A pool that is there from the start, such as h100:100x8 "
    "or pool=h100,count=100,gpus=8; repeatable.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="PARTS",
    help=f"Leave parts out, for the real ones to take their place: {','.join(PARTS)}.",
)
@click.option(
    "--token-auth-file",
    type=PATH,
    metavar="F",
    help='Static tokens, as lines of token,name,uid,"group1,group2".',
)
@click.option(
    "--set",
    "flags",
    multiple=True,
    metavar="PART.FLAG=V",
    help="A flag of the real program that our part knows too, "
    "such as controllers.node-monitor-grace-period=20; repeatable.",
)
def command(
    name: str,
    data_dir: Path | None,
    ephemeral: bool,
    port: int,
    detach: bool,
    kubeconfig: Path | None,
    orders: tuple[str, ...],
    without: tuple[str, ...],
    token_auth_file: Path | None,
    flags: tuple[str, ...],
) -> int:
    """Start a cluster and merge a context for it into the kubeconfig.

    In the foreground it logs, and stops cleanly on Ctrl-C.
    """
    from windtunnel.nodes.pools import parse_order

    settings = Settings(
        name=name,
        kubeconfig=(kubeconfig or default_path()).expanduser().absolute(),
        port=port,
        data_dir=data_dir.expanduser().absolute() if data_dir else None,
        ephemeral=ephemeral,
        without=frozenset(part.strip() for text in without for part in text.split(",") if part),
        token_file=token_auth_file,
        pools=tuple(parse_order(text) for text in orders),
        flags=tuple(parse_flag(text) for text in flags),
    )
    folder = Folder(name)
    if detach:
        process = start(settings, folder)
        click.echo(f"Cluster {name} is up at {process.url} (context {settings.context}).")
        return 0

    from windtunnel.assembly.serve import INTERRUPT, serve

    def ready(process: Process) -> None:
        click.echo(
            f"Cluster {name} is up at {process.url} (context {settings.context}); "
            "stop it with Ctrl-C.",
            err=True,
        )

    signal = serve(settings, ready, echo=True)
    kept = "" if ephemeral else f"; its data is in {data_dir or folder.default_data}"
    click.echo(f"Cluster {name} is down{kept}.", err=True)
    return 130 if signal == INTERRUPT else 0


def start(settings: Settings, folder: Folder, *, bound: bool = False) -> Process:
    """Start a cluster in a process of its own, which may be bound to the life of this one."""
    from windtunnel.assembly.detach import detached

    folder.create()

    def run(ready: Callable[[Process], None]) -> None:
        # Imported in the child: the parent needs none of it.
        from windtunnel.assembly.serve import serve

        serve(settings, ready)

    return detached(run, folder.log, bound=bound)
