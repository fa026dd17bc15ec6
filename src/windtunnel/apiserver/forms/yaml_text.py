"""Reads YAML as Kubernetes does, without doing more work than the text is long.

A few lines of anchors and aliases can spell billions of values, and an anchor can hold itself. The
events of a text are looked at before anything is made of them: how deep it is, and how much of it
comes from aliases, counted as the real server's decoder counts.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, ClassVar, Final

import yaml

from windtunnel.apiserver.forms.nesting import MOST_LEVELS

_UNJUDGED_ALIASED: Final = 100
_UNJUDGED: Final = 1000
_FEW, _MANY = 400_000, 4_000_000
"""Between these sizes the share that aliases may have falls from 99 to 10 percent."""
_NESTED: Final = "exceeded maximum nesting depth"
"""What the parser says of flow collections deeper than it bears itself."""
_TOO_DEEP: Final = f"yaml: exceeded max depth of {MOST_LEVELS}"
_LARGEST_INTEGER: Final = 2**64


class MalformedYaml(ValueError):
    """It is no YAML, or nothing that JSON could say; the message is the real decoder's."""


class _Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """YAML as Kubernetes reads it: times stay texts, single letters y and n are booleans."""

    bool_values: ClassVar = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^[yYnN]$"), list("yYnN"))


def read_yaml(text: bytes) -> Any:
    """Return the first document of a YAML text, as JSON would spell it.

    Raises:
        MalformedYaml: It is no YAML, too deep, or blown up by aliases.
    """
    try:
        _Look().at(text)
        loader = _Loader(text)
        try:
            return _as_json(loader.get_data()) if loader.check_data() else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise MalformedYaml(_words(error)) from None
    except (ValueError, OverflowError, TypeError, AttributeError, KeyError, IndexError) as error:
        # What PyYAML's constructors say of a scalar whose tag does not fit it.
        if isinstance(error, MalformedYaml):
            raise
        raise MalformedYaml(f"yaml: cannot decode a value: {error}") from None


class _Look:
    """One look at the events of a document."""

    def __init__(self) -> None:
        self._decoded = 0
        self._aliased = 0
        self._sizes: dict[str, int] = {}
        """How many values an anchor's value has, aliases followed."""
        self._open: list[tuple[str | None, int]] = []

    def at(self, text: bytes) -> None:
        """Look at the first document.

        Raises:
            MalformedYaml: It is too deep, or its aliases spell too much.
        """
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.DocumentEndEvent):
                return
            if isinstance(event, yaml.AliasEvent):
                self._alias(event.anchor)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._decoded += 1
                self._open.append((event.anchor, self._decoded))
                if len(self._open) > MOST_LEVELS:
                    raise MalformedYaml(_TOO_DEEP)
            elif isinstance(event, yaml.CollectionEndEvent):
                anchor, before = self._open.pop()
                if anchor is not None:
                    self._sizes[anchor] = self._decoded - before + 1
            elif isinstance(event, yaml.ScalarEvent):
                self._decoded += 1
                if event.anchor is not None:
                    self._sizes[event.anchor] = 1

    def _alias(self, anchor: str | None) -> None:
        if any(anchor == name for name, _ in self._open):
            raise MalformedYaml(f"yaml: anchor '{anchor}' value contains itself")
        if anchor is None or anchor not in self._sizes:
            raise MalformedYaml(f"yaml: unknown anchor '{anchor}' referenced")
        self._decoded += 1 + self._sizes[anchor]
        self._aliased += self._sizes[anchor]
        if (
            self._aliased > _UNJUDGED_ALIASED
            and self._decoded > _UNJUDGED
            and self._aliased / self._decoded > _allowed_share(self._decoded)
        ):
            raise MalformedYaml("yaml: document contains excessive aliasing")


def _allowed_share(decoded: int) -> float:
    beyond = min(max(decoded - _FEW, 0) / (_MANY - _FEW), 1.0)
    return 0.99 - 0.89 * beyond


def _words(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or str(error)
    if problem == _NESTED:
        return _TOO_DEEP
    mark = getattr(error, "problem_mark", None)
    number = 0 if mark is None else mark.line + isinstance(error, yaml.scanner.ScannerError)
    line = f"line {number}: " if number else ""
    return f"yaml: {line}{problem}"


def _as_json(value: Any) -> Any:
    """Return a YAML value with the keys and scalars that it has as JSON."""
    match value:
        case str() | bool() | None:
            return value
        case dict():
            return {_key(key): _as_json(part) for key, part in value.items()}
        case list() | tuple():
            return [_as_json(part) for part in value]
        case set():
            return {_key(key): None for key in value}
        case int():
            return value if -_LARGEST_INTEGER < value < _LARGEST_INTEGER else float(value)
        case float():
            return _finite(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case datetime.date():
            return value.isoformat()
    raise MalformedYaml(f"yaml: cannot decode {value!r}")


def _finite(value: float) -> float:
    if math.isfinite(value):
        return value
    word = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    raise MalformedYaml(f"json: unsupported value: {word}")


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
