"""Label selectors: which objects are meant by their labels.

A selector is parsed once and asked many times: ``matches`` does nothing but dictionary look-ups.
The texts of refusals are the real server's. Source: k8s.io/apimachinery labels, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from windtunnel.machinery import names
from windtunnel.machinery.violations import Violation, forbidden, invalid, required

Operator = Literal["in", "notin", "exists", "absent", "gt", "lt"]

_SPECIAL: Final = frozenset("=!(),><")
_SPACE: Final = frozenset(" \t\r\n")
_SYMBOLS: Final = frozenset((")", ",", "!", "==", "=", ">", "<", "!=", "("))
_BINARY: Final = "in, notin, =, ==, !=, gt, lt"
_END: Final = ""
_TREE_OPERATORS: Final[dict[str, Operator]] = {
    "In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent",
    "Gt": "gt", "Lt": "lt",
}  # fmt: skip


class MalformedSelector(ValueError):
    """The text or tree is no selector; the message is the real server's."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label. ``values`` are those of in and notin; gt and lt have one."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()
    exact: bool = False
    """Written with an equals sign: matters only when it is printed."""

    def __str__(self) -> str:
        match self.operator:
            case "exists":
                return self.key
            case "absent":
                return f"!{self.key}"
            case "gt" | "lt":
                return f"{self.key}{'>' if self.operator == 'gt' else '<'}{self.values[0]}"
            case _:
                if self.exact:
                    return f"{self.key}{'=' if self.operator == 'in' else '!='}{self.values[0]}"
                return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels meet this condition."""
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "absent":
                return value is None
            case _:
                if value is None:
                    return False
                try:
                    have, bound = _whole(value), _whole(self.values[0])
                except ValueError:
                    return False
                return have > bound if self.operator == "gt" else have < bound


def _whole(text: str) -> int:
    """Parse an integer as Go does: no spaces, no underscores."""
    if not text.isascii() or not text.lstrip("+-").isdigit():
        raise ValueError(text)
    return int(text)


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of its requirements must hold; without any it selects everything."""

    requirements: tuple[Requirement, ...] = ()
    selects_nothing: bool = False

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Say whether an object with these labels is meant."""
        if self.selects_nothing:
            return False
        given = labels or {}
        for requirement in self.requirements:  # noqa: SIM110 - hot, a generator costs more
            if not requirement.matches(given):
                return False
        return True

    def __str__(self) -> str:
        """Return the selector as scale subresources and tables print it."""
        return ",".join(map(str, sorted(self.requirements, key=lambda term: term.key)))

    @property
    def empty(self) -> bool:
        """True where everything is selected."""
        return not self.requirements and not self.selects_nothing

    @property
    def keys(self) -> frozenset[str]:
        """The labels it looks at."""
        return frozenset(requirement.key for requirement in self.requirements)

    @classmethod
    def parse(cls, text: str) -> LabelSelector:
        """Return the selector that ``a=b,c in (d,e),!f`` spells.

        Raises:
            MalformedSelector: It spells none.
        """
        return _parse_labels(text)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any] | None) -> LabelSelector:
        """Return what a ``LabelSelector`` object (matchLabels, matchExpressions) means.

        None selects nothing, an empty object everything, as everywhere in Kubernetes.

        Raises:
            MalformedSelector: An operator is unknown or values do not fit it.
        """
        if tree is None:
            return NOTHING
        found = [
            Requirement(key, "in", (value,), exact=True)
            for key, value in sorted((tree.get("matchLabels") or {}).items())
        ]
        for expression in tree.get("matchExpressions") or ():
            operator = _TREE_OPERATORS.get(expression.get("operator", ""))
            values = tuple(expression.get("values") or ())
            if operator is None or operator in ("gt", "lt"):
                raise MalformedSelector(
                    f'"{expression.get("operator", "")}" is not a valid label selector operator'
                )
            if operator in ("in", "notin") and not values:
                raise MalformedSelector(
                    "values: Invalid value: []: for 'in', 'notin' operators, values set can't be"
                    " empty"
                )
            found.append(Requirement(expression.get("key", ""), operator, values))
        return cls(tuple(found))

    @classmethod
    def from_labels(cls, labels: Mapping[str, str] | None) -> LabelSelector:
        """Return the selector of a plain map (services, replication controllers)."""
        return cls(
            tuple(
                Requirement(key, "in", (value,), exact=True)
                for key, value in (labels or {}).items()
            )
        )


EVERYTHING: Final = LabelSelector()
NOTHING: Final = LabelSelector(selects_nothing=True)


def validate_label_selector(tree: Mapping[str, Any] | None, field: str) -> list[Violation]:
    """Judge a ``LabelSelector`` object: its keys, operators and values."""
    if not tree:
        return []
    found: list[Violation] = []
    for key, value in sorted((tree.get("matchLabels") or {}).items()):
        where = f"{field}.matchLabels"
        found += [invalid(where, key, text) for text in names.label_key(key)]
        found += [invalid(where, value, text) for text in names.label_value(value)]
    for index, expression in enumerate(tree.get("matchExpressions") or ()):
        found += _validate_expression(expression, f"{field}.matchExpressions[{index}]")
    return found


def _validate_expression(expression: Mapping[str, Any], field: str) -> list[Violation]:
    found: list[Violation] = []
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(required(f"{field}.values", text))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", text))
    else:
        text = "not a valid selector operator"
        found.append(invalid(f"{field}.operator", operator, text))
    key = expression.get("key", "")
    found += [invalid(f"{field}.key", key, text) for text in names.label_key(key)]
    for index, value in enumerate(values):
        where = f"{field}.values[{index}]"
        found += [invalid(where, value, text) for text in names.label_value(value)]
    return found


def requirement_of_tree(expression: Mapping[str, Any]) -> Requirement:
    """Return one expression of a node selector (which also knows Gt and Lt)."""
    operator = _TREE_OPERATORS.get(expression.get("operator", ""))
    if operator is None:
        raise MalformedSelector(
            f'"{expression.get("operator", "")}" is not a valid node selector operator'
        )
    return Requirement(expression.get("key", ""), operator, tuple(expression.get("values") or ()))


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Cut a selector into (text, is a word); the end is an empty symbol."""
    found: list[tuple[str, bool]] = []
    position, end = 0, len(text)
    while position < end:
        mark = text[position]
        if mark in _SPACE:
            position += 1
        elif mark in _SPECIAL:
            symbol = text[position : position + 2]
            if symbol not in _SYMBOLS:
                symbol = mark
            found.append((symbol, False))
            position += len(symbol)
        else:
            start = position
            while position < end and text[position] not in _SPECIAL | _SPACE:
                position += 1
            found.append((text[start:position], True))
    found.append((_END, False))
    return found


class _LabelParser:
    """A descent over the tokens; every refusal names what was found and what was expected."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = 0

    def parse(self) -> list[Requirement]:
        found: list[Requirement] = []
        while True:
            text, word = self._peek()
            if not word and text != "!":
                if text == _END:
                    return found
                raise MalformedSelector(
                    f"found '{text}', expected: !, identifier, or 'end of string'"
                )
            try:
                found.append(self._requirement())
            except MalformedSelector as problem:
                raise MalformedSelector(f"unable to parse requirement: {problem}") from None
            text, word = self._take()
            if text == _END and not word:
                return found
            if text != ",":
                raise MalformedSelector(f"found '{text}', expected: ',' or 'end of string'")
            text, word = self._peek()
            if not word and text != "!":
                raise MalformedSelector(f"found '{text}', expected: identifier after ','")

    def _peek(self) -> tuple[str, bool]:
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _take(self) -> tuple[str, bool]:
        token = self._peek()
        self._next += 1
        return token

    def _requirement(self) -> Requirement:
        text, word = self._take()
        absent = text == "!" and not word
        if absent:
            text, word = self._take()
        if not word:
            raise MalformedSelector(f"found '{text}', expected: identifier")
        key = text
        if wrong := names.label_key(key):
            raise MalformedSelector(str(invalid("<nil>", key, "; ".join(wrong))))
        if absent or self._peek() in ((_END, False), (",", False)):
            return Requirement(key, "absent" if absent else "exists")
        text, word = self._take()
        if word and text in ("in", "notin"):
            values = self._values()
            return _checked(Requirement(key, "in" if text == "in" else "notin", values))
        if word or text not in ("=", "==", "!=", ">", "<"):
            raise MalformedSelector(f"found '{text}', expected: {_BINARY}")
        operator: Operator = (
            "in"
            if text in ("=", "==")
            else "notin"
            if text == "!="
            else "gt"
            if text == ">"
            else "lt"
        )
        return _checked(Requirement(key, operator, (self._exact_value(),), exact=True))

    def _exact_value(self) -> str:
        text, word = self._peek()
        if not word and text in (_END, ","):
            return ""
        self._take()
        if not word:
            raise MalformedSelector(f"found '{text}', expected: identifier")
        return text

    def _values(self) -> tuple[str, ...]:
        text, word = self._take()
        if word or text != "(":
            raise MalformedSelector(f"found '{text}' expected: '('")
        found: set[str] = set()
        text, word = self._peek()
        if not word and text == ")":
            self._take()
            return ("",)
        if not word and text != ",":
            raise MalformedSelector(f"found '{text}', expected: ',', ')' or identifier")
        while True:
            text, word = self._take()
            following, follows_word = self._peek()
            if word:
                found.add(text)
                if follows_word or following not in (",", ")"):
                    raise MalformedSelector(f"found '{following}', expected: ',' or ')'")
            elif text == ",":
                if not found:
                    found.add("")
                if not follows_word and following in (",", ")"):
                    found.add("")
            else:
                raise MalformedSelector(f"found '{text}', expected: ',', or identifier")
            if not follows_word and following == ")":
                self._take()
                return tuple(sorted(found))


def _checked(requirement: Requirement) -> Requirement:
    problems: list[Violation] = []
    if requirement.operator in ("gt", "lt"):
        for index, value in enumerate(requirement.values):
            try:
                _whole(value)
            except ValueError:
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                problems.append(invalid(f"values[{index}]", value, detail))
    for index, value in enumerate(requirement.values):
        if wrong := names.label_value(value):
            where = f"values[{index}][{requirement.key}]"
            problems.append(invalid(where, value, "; ".join(wrong)))
    if problems:
        raise MalformedSelector(_together([str(problem) for problem in problems]))
    return requirement


def _together(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"


@lru_cache(maxsize=1024)
def _parse_labels(text: str) -> LabelSelector:
    found = _LabelParser(text).parse()
    return LabelSelector(tuple(sorted(found, key=lambda requirement: requirement.key)))
