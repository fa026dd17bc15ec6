"""``windtunnel conformance``: replays recorded answers and says how many are met.

Prints ``N passed, M failed`` as the last line and exits 1 if any failed. What a kubelet does is
only played and written down: its recording has a judge of its own.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from windtunnel.errors import UsageError

if TYPE_CHECKING:
    from windtunnel.parity import Report

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

detailed = click.option("--report", is_flag=True, help="Show each difference.")
emitting = partial(
    click.option,
    "--emit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    help="Write what was seen in the recording's own format.",
)


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
@emitting()
@detailed
def scheduler(file: Path, emit: Path | None, report: bool) -> int:
    """Replay scenarios through the scheduler's cycle."""
    from windtunnel.parity.scheduler import replay

    return _say(replay(file, emit), detailed=report)


@command.command()
@click.argument("file", type=FILE)
@emitting(required=True)
@click.option("--only", default="", metavar="REGEX", help="Only scenarios whose id or kind has it.")
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    metavar="N",
    help="Scenarios played together.",
)
def kubelet(file: Path, emit: Path, only: str, at_once: int) -> int:
    """Play scenarios of pods and device plugins on nodes of their own.

    Judging what was seen is left to the recording's own compare.py.
    """
    from windtunnel.home import find_kubectl
    from windtunnel.parity.kubelet.replay import other_version, read_scenarios, replay

    try:
        wanted = re.compile(only)
    except re.error as error:
        raise UsageError(f"--only {only!r} is no regular expression: {error}") from error
    scenarios = read_scenarios(file, wanted)
    if not scenarios:
        raise UsageError("there are no cases to replay")
    kubectl = find_kubectl()
    if version := other_version(kubectl):
        click.echo(f"{kubectl} is {version}; the recording's is 1.36, and words differ", err=True)
    failed = replay(scenarios, emit, kubectl, at_once, click.echo)
    click.echo(f"{len(scenarios) - failed} played, {failed} failed")
    return 1 if failed else 0


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
