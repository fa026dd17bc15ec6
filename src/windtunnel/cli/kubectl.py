"""``windtunnel kubectl -- …``: the kubectl that is there, with this cluster's kubeconfig."""

from __future__ import annotations

import os

import click

from windtunnel.cli import options
from windtunnel.home import find_kubectl, serving


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@options.name
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(name: str, arguments: tuple[str, ...]) -> None:
    """Run kubectl on a cluster: windtunnel kubectl -- get pods."""
    path = find_kubectl()
    folder, _ = serving(name)
    environment = dict(os.environ, KUBECONFIG=str(folder.kubeconfig))
    os.execve(path, [path, *arguments], environment)
