"""Writes the reference pages that are derived: what the command line says of itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
HEAD = """# Commands

Made by `make docs` from the commands themselves; do not edit.
"""


def pages() -> dict[Path, str]:
    """Return every derived page and what should stand in it."""
    from windtunnel.cli.root import root

    sections = [HEAD]
    for path, command in _walk("windtunnel", root):
        context = click.Context(command, info_name=path, max_content_width=90, terminal_width=90)
        sections.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return {HERE / "commands.md": "\n".join(sections)}


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _walk(f"{path} {name}", below)


def main() -> int:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
