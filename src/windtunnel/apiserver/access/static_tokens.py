"""Static tokens: the file of ``--token-auth-file``, read as strictly as the real server reads it.

Its records are those of Go's ``encoding/csv``: a quote stands at the beginning and end of a field
or is doubled inside of one, spaces count, and there are no comments.

Source: kube-apiserver v1.36 (token file), Go's encoding/csv for records and the words of mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Final

from windtunnel.machinery.admission import User

_LEAST: Final = 3
_BARE: Final = 'bare " in non-quoted-field'
_QUOTE: Final = 'extraneous or missing " in quoted-field'


def read_tokens(text: str) -> dict[str, User]:
    """Read lines of ``token,name,uid,"group1,group2"``; one without a token counts for nothing.

    Raises:
        ValueError: It is no such file.
    """
    tokens = {}
    for record in _records(text):
        if len(record) < _LEAST:
            raise ValueError(
                "it must have at least 3 columns (token, user name, user uid), "
                f"found {len(record)} in {','.join(record[1:]) or 'a line'!r}"
            )
        token, name, uid, *more = record
        if token:
            tokens[token] = User(name, tuple(more[0].split(",")) if more else (), uid)
    return tokens


def _records(text: str) -> Iterator[list[str]]:
    """Yield the fields of each record; empty lines are none."""
    lines = iter(enumerate(StringIO(text.replace("\r\n", "\n"), newline="\n"), start=1))
    for number, line in lines:
        if line != "\n":
            yield list(_fields(number, line, lines))


def _fields(first: int, line: str, lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    """Yield the fields of the record that begins with ``line``; quotes may take in more lines."""
    number, at = first, 0
    while True:
        if not line.startswith('"', at):
            field, comma, _ = line[at:].rstrip("\n").partition(",")
            if '"' in field:
                raise _mistake(first, number, line, at + field.index('"'), _BARE)
            yield field
            if not comma:
                return
            at += len(field) + 1
            continue
        field, at = "", at + 1
        while True:
            end = line.find('"', at)
            if end < 0:
                field += line[at:]
                following = next(lines, None)
                if following is None:
                    raise _mistake(first, number, line, len(line), _QUOTE)
                (number, line), at = following, 0
            elif line.startswith('""', end):
                field, at = f'{field}{line[at:end]}"', end + 2
            else:
                field += line[at:end]
                break
        yield field
        at = end + 1
        if line[at:] in ("", "\n"):
            return
        if line[at] != ",":
            raise _mistake(first, number, line, end, _QUOTE)
        at += 1


def _mistake(first: int, number: int, line: str, at: int, what: str) -> ValueError:
    """Return the error for a place, in the words of Go: columns count bytes."""
    column = len(line[:at].encode()) + 1
    begun = "" if first == number else f"record on line {first}; "
    return ValueError(f"{begun}parse error on line {number}, column {column}: {what}")
