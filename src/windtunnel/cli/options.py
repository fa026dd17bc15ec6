"""Options that several verbs share, so that they are spelled and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

DEFAULT_NAME: Final = "default"


class FilePath(click.Path):
    """A file or folder of the user's, made absolute; whoever opens it says what is wrong with it.

    Empty text is refused: it would mean the folder one happens to stand in.
    """

    def __init__(self) -> None:
        super().__init__(readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        if not str(value):
            self.fail("it is empty; name a file or folder", param, ctx)
        return Path(value).expanduser().absolute()


PATH: Final = FilePath()

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
