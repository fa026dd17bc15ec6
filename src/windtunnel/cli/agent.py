"""``windtunnel agent``: one agent in this process, for whoever reads the help.

The command itself never gets here: ``cli.main`` hands it over before anything of the command line
is imported, for a cluster has many agents and each is a process.
"""

from __future__ import annotations

import click

from windtunnel.assembly.components import AGENTS, PROGRAMS


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=f"Components: {', '.join((*AGENTS, *PROGRAMS))}.",
)
@click.argument("component")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(component: str, arguments: tuple[str, ...]) -> int:
    """Be one agent of the operator or of a node until the process is told to end.

    Settings come from the environment, as on a real cluster; docs/reference/agents.md has them all.
    """
    from windtunnel.assembly.agent import run

    return run(component, arguments)
