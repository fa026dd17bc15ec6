"""``windtunnel kubectl -- …``: the kubectl that is there, with this cluster's kubeconfig."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from windtunnel.cli import options
from windtunnel.errors import UsageError
from windtunnel.home import serving


def program() -> str:
    """Return the kubectl to run: ``$KUBECTL``, or the one on PATH.

    Raises:
        UsageError: there is none.
    """
    chosen = os.environ.get("KUBECTL") or "kubectl"
    found = shutil.which(chosen)
    if found is None:
        where = f"$KUBECTL names {chosen}, which is no program" if "KUBECTL" in os.environ else (
            "there is no kubectl on PATH; install one or name it in $KUBECTL"
        )  # fmt: skip
        raise UsageError(where)
    return str(Path(found))


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@options.name
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(name: str, arguments: tuple[str, ...]) -> None:
    """Run kubectl on a cluster: windtunnel kubectl -- get pods."""
    path = program()
    folder, _ = serving(name)
    environment = dict(os.environ, KUBECONFIG=str(folder.kubeconfig))
    os.execve(path, [path, *arguments], environment)
