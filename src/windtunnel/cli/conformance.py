"""``windtunnel conformance``: replays recorded answers and says how many are met.

Prints ``N passed, M failed`` as the last line and exits 1 if any failed.
"""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def command() -> None:
    """Replay recorded answers of the real programs."""
