"""Printing: a tree as JSON or YAML, rows as a table.

Tables are drawn by rich, which is imported only when one is drawn. Where the output is no terminal
there are no colours; cells are never cut off.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from windtunnel.devices import Ledger

_ANY_WIDTH: Final = 1000

TableRows = Iterable[Sequence[object]]


def show(tree: Any, output: str, table: Callable[[], None]) -> None:
    """Print ``tree`` as JSON or YAML, or call ``table`` to draw it."""
    if output == "json":
        click.echo(json.dumps(tree, indent=2))
    elif output == "yaml":
        import yaml

        click.echo(yaml.safe_dump(tree, sort_keys=False), nl=False)
    else:
        table()


def counted_nodes(count: int) -> str:
    """Return how many nodes there are, in words."""
    return "1 node" if count == 1 else f"{count} nodes"


def draw(columns: Sequence[str], rows: TableRows, footer: Sequence[object] = ()) -> None:
    """Draw a table; columns whose name begins with ``#`` hold numbers and lean right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_footer=bool(footer), pad_edge=False, padding=(0, 3, 0, 0))
    for place, column in enumerate(columns):
        table.add_column(
            column.removeprefix("#"),
            justify="right" if column.startswith("#") else "left",
            footer=str(footer[place]) if footer else "",
            no_wrap=True,
            overflow="ignore",
        )
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    # As wide as it is: a narrow terminal breaks the lines, which can be read; cut columns cannot.
    console = Console(width=_ANY_WIDTH)
    with console.capture() as drawn:
        console.print(table, crop=False)
    for line in drawn.get().splitlines():
        click.echo(line.rstrip())


def draw_ledger(ledger: Ledger) -> None:
    """Draw the account as a table: one line a node, and the totals."""
    draw(
        ("NODE", "PRODUCT", "#CAPACITY", "#ALLOCATABLE", "#PLACED", "#FREE"),
        [
            (node.name, node.product, node.capacity, node.allocatable, node.placed, node.free)
            for node in ledger.nodes
        ],
        footer=(
            "total",
            "",
            sum(node.capacity for node in ledger.nodes),
            ledger.allocatable_total,
            ledger.requested,
            ledger.free,
        ),
    )


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far a longer work has come; yields what to tell each part to."""
    watched = sys.stderr.isatty()
    with click.progressbar(length=total, label=label, file=sys.stderr, hidden=not watched) as bar:
        yield bar.update
