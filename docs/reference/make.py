"""Writes the reference pages that are derived: the commands' own help, and the GPU catalogue."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
HEAD = """# Commands

Made by `make docs` from the commands themselves; do not edit.
"""

GPUS = """# GPU models

Made by `make docs` from the catalogue; do not edit. `--product` and `product=` take a name, the
label, or what NVML calls the model; any other text with `--gpu-memory` (MiB).

| name | label `nvidia.com/gpu.product` | MiB | GPUs a node | family | MIG |
|---|---|---|---|---|---|"""


def pages() -> dict[Path, str]:
    """Return every derived page and what should stand in it."""
    from windtunnel.cli.root import root

    sections = [HEAD]
    for context in _walk(root, "windtunnel", None):
        sections.append(f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n")
    return {HERE / "commands.md": "\n".join(sections), HERE / "gpus.md": _gpus()}


def _gpus() -> str:
    from windtunnel.devices import models

    rows = [
        f"| `{key}` | `{model.label}` | {model.memory_mib} | {model.gpus} | {model.family} | "
        f"{'yes' if model.mig else 'no'} |"
        for key, model in models().items()
    ]
    return "\n".join([GPUS, *rows, ""])


def _walk(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[click.Context]:
    context = click.Context(
        command, parent, name, max_content_width=90, terminal_width=90, **command.context_settings
    )
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from _walk(found, below, context)


def main() -> int:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
