"""``windtunnel conformance``: replays recorded answers and says how many are met.

Prints ``N passed, M failed`` as the last line and exits 1 if any failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from windtunnel.errors import UsageError

if TYPE_CHECKING:
    from windtunnel.parity import Report

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

detailed = click.option("--report", is_flag=True, help="Show each difference.")


@click.group()
def command() -> None:
    """Replay recorded answers of the real programs."""


@command.command()
@click.argument("file", type=FILE)
@click.option("--only", default="", metavar="TEXT", help="Only cases whose id or group has it.")
@detailed
def api(file: Path, only: str, report: bool) -> int:
    """Replay requests against an empty API server of its own."""
    from windtunnel.parity.api import read_cases
    from windtunnel.parity.own_server import replay_on_own_server

    cases = [case for case in read_cases(file) if only in case.id or only in case.kind]
    return _say(replay_on_own_server(cases), detailed=report)


@command.command()
@click.argument("file", type=FILE)
@click.option(
    "--emit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    help="Write our results in the recording's own format.",
)
@detailed
def scheduler(file: Path, emit: Path | None, report: bool) -> int:
    """Replay scenarios through the scheduler's cycle."""
    from windtunnel.parity.scheduler import replay

    return _say(replay(file, emit), detailed=report)


def _say(report: Report, *, detailed: bool) -> int:
    if not report.outcomes:
        raise UsageError("there are no cases to replay")
    for outcome in report.outcomes:
        if detailed and outcome.differences:
            click.echo(f"{outcome.case} ({outcome.group})")
            for line in outcome.differences:
                click.echo(f"    {line}")
    for group, met, every in report.by_group():
        click.echo(f"{group:<16} {met}/{every}")
    click.echo(report.summary())
    return 1 if report.failed else 0
