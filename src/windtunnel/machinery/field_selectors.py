"""Field selectors: which objects are meant by the values of their fields.

Fields are looked up in the few values that a kind offers, so an object is never decoded to be
selected. Source: k8s.io/apimachinery fields, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from windtunnel.machinery.selectors import MalformedSelector


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Terms ``field = value`` and ``field != value``; all must hold."""

    terms: tuple[tuple[str, bool, str], ...] = ()
    """(field, equal, value)"""

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Say whether an object with these field values is meant; a missing one is empty."""
        for field, equal, value in self.terms:  # noqa: SIM110 - hot, a generator costs more
            if (fields.get(field, "") == value) is not equal:
                return False
        return True

    @property
    def empty(self) -> bool:
        """True where everything is selected."""
        return not self.terms

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields it looks at, in the order they are checked in."""
        return tuple(field for field, _, _ in self.terms)

    def exact(self, field: str) -> str | None:
        """Return the one value that ``field`` must have, or None where it is not fixed."""
        for name, equal, value in self.terms:
            if name == field and equal:
                return value
        return None

    def checked(self, known: Collection[str], unknown: Callable[[str], str]) -> FieldSelector:
        """Return this selector if it asks only for known fields.

        Raises:
            MalformedSelector: It asks for another; the text is ``unknown(field)``.
        """
        for field in self.fields:
            if field not in known:
                raise MalformedSelector(unknown(field))
        return self

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        r"""Return the selector that ``a=b,c!=d`` spells; ``\`` escapes itself, comma and equals.

        Raises:
            MalformedSelector: It spells none.
        """
        return _parse_fields(text)


@lru_cache(maxsize=1024)
def _parse_fields(text: str) -> FieldSelector:
    terms = []
    for part in sorted(_split_terms(text)):
        if part:
            terms.append(_field_term(text, part))
    return FieldSelector(tuple(terms))


def _split_terms(text: str) -> list[str]:
    parts, start, escaped = [], 0, False
    for index, mark in enumerate(text):
        if escaped:
            escaped = False
        elif mark == "\\":
            escaped = True
        elif mark == ",":
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return parts


def _field_term(selector: str, term: str) -> tuple[str, bool, str]:
    for index in range(len(term)):
        for operator in ("!=", "==", "="):
            if term.startswith(operator, index):
                value = _unescaped(term[index + len(operator) :])
                return term[:index], operator != "!=", value
    raise MalformedSelector(f"invalid selector: '{selector}'; can't understand '{term}'")


def _unescaped(text: str) -> str:
    marks, escaped = [], False
    for mark in text:
        if escaped:
            if mark not in "\\,=":
                raise MalformedSelector(
                    f"invalid field selector: invalid escape sequence: \\{mark}"
                )
            marks.append(mark)
            escaped = False
        elif mark == "\\":
            escaped = True
        elif mark in ",=":
            raise MalformedSelector(
                f"invalid field selector: unescaped character in value: {ord(mark)}"
            )
        else:
            marks.append(mark)
    if escaped:
        raise MalformedSelector("invalid field selector: invalid escape sequence: \\")
    return "".join(marks)
