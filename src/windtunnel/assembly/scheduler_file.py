"""The scheduler's configuration as a user gives it: a YAML file, read before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from windtunnel.devices import load_yaml
from windtunnel.errors import UsageError
from windtunnel.scheduler import Configuration, read_configuration

_LIMIT: Final = 1 << 20


def read_scheduler_file(path: Path) -> Configuration:
    """Return what a file with a KubeSchedulerConfiguration asks for.

    Raises:
        UsageError: it cannot be read or understood, or asks for what is not known.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LIMIT + 1)
        if len(text) > _LIMIT:
            raise UsageError(f"scheduler configuration {path} is larger than {_LIMIT} characters")
        tree = load_yaml(text)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"cannot read scheduler configuration {path}: {why}") from error
    except ValueError as error:
        raise UsageError(f"scheduler configuration {path} is malformed: {error}") from error
    if not isinstance(tree, dict) or "kind" not in tree:
        raise UsageError(f"scheduler configuration {path} holds no KubeSchedulerConfiguration")
    try:
        return read_configuration(tree)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
