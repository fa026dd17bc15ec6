"""Options that several verbs share, so that they are spelled and explained alike."""

from __future__ import annotations

from typing import Final

import click

DEFAULT_NAME: Final = "default"

name = click.option(
    "--name",
    default=DEFAULT_NAME,
    show_default=True,
    metavar="N",
    help="Which cluster; several live side by side.",
)

output = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    show_default=True,
    help="How to print.",
)
