"""Completed and failed indexes of an indexed job, as text like ``1,3-5``.

Source: batch/v1 of v1.36.3.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from math import inf
from typing import Final, NamedTuple

_LONGEST: Final = 18
"""Digits; more are no number that anybody parses."""


class Interval(NamedTuple):
    """Indexes from ``first`` to ``last``, both included."""

    first: int
    last: int


class MalformedIndexes(ValueError):
    """The text is no increasing list of intervals; the message says why."""


def _number(text: str, completions: int) -> int:
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits.lstrip("0")) > _LONGEST:
        raise MalformedIndexes(f'cannot convert string to integer for index: "{text}"')
    if int(text) >= completions:
        raise MalformedIndexes(f'too large index: "{text}"')
    return int(text)


def _interval(text: str, completions: int) -> Interval:
    ends = text.split("-")
    if len(ends) > 2:
        raise MalformedIndexes(
            f'the fragment "{text}" violates the requirement that an index interval can have at'
            " most two parts separated by '-'"
        )
    first = _number(ends[0], completions)
    if len(ends) == 1:
        return Interval(first, first)
    last = _number(ends[1], completions)
    if first >= last:
        raise MalformedIndexes(f"non-increasing order, previous: {first}, current: {last}")
    return Interval(first, last)


def parse_indexes(text: str, completions: int) -> list[Interval]:
    """Return the intervals that ``text`` spells, in order.

    Raises:
        MalformedIndexes: It spells none, is out of order, or goes beyond ``completions``.
    """
    found: list[Interval] = []
    for part in text.split(",") if text else ():
        interval = _interval(part, completions)
        if found and found[-1].last >= interval.first:
            raise MalformedIndexes(
                f"non-increasing order, previous: {found[-1].last}, current: {interval.first}"
            )
        found.append(interval)
    return found


class Indexes:
    """A set of indexes, kept as runs: a job may have two thousand million of them."""

    __slots__ = ("_runs",)

    def __init__(self, runs: Iterable[tuple[int, int]] = ()) -> None:
        """Hold what lies in the runs, their ends included; they may overlap, in any order."""
        self._runs: list[Interval] = []
        for first, last in sorted(runs):
            if last < first:
                continue
            if self._runs and first <= self._runs[-1].last + 1:
                before = self._runs.pop()
                first, last = before.first, max(before.last, last)
            self._runs.append(Interval(first, last))

    def __len__(self) -> int:
        return count_indexes(self._runs)

    def __iter__(self) -> Iterator[int]:
        return (index for run in self._runs for index in range(run.first, run.last + 1))

    def __contains__(self, index: object) -> bool:
        if not isinstance(index, int):
            return False
        place = bisect_right(self._runs, (index, inf))
        return place > 0 and index <= self._runs[place - 1].last

    def __or__(self, other: Indexes | Iterable[int]) -> Indexes:
        more = other._runs if isinstance(other, Indexes) else ((index, index) for index in other)
        return Indexes((*self._runs, *more))

    def shared(self, other: Indexes) -> int:
        """Return how many indexes are in both."""
        return len(self) + len(other) - len(self | other)

    def free(self, end: int) -> Iterator[int]:
        """Return the indexes below ``end`` that are not in it, in order."""
        at = 0
        for first, last in self._runs:
            yield from range(at, min(first, end))
            at = last + 1
        yield from range(at, end)

    def text(self) -> str:
        """Return ``0,1,3-5``: runs of three and more are drawn together."""
        return ",".join(
            str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}"
            for first, last in self._runs
        )


def read_indexes(text: str, completions: int) -> Indexes:
    """Return the indexes that ``text`` spells, without what is malformed or too large."""
    runs: list[tuple[int, int]] = []
    for part in text.split(",") if text else ():
        low, dash, high = part.partition("-")
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            continue
        runs.append((first, min(last, completions - 1)))
    return Indexes(runs)


def count_indexes(intervals: Iterable[Interval]) -> int:
    """Return how many indexes the intervals hold."""
    return sum(last - first + 1 for first, last in intervals)


def first_shared_index(completed: str, failed: str, completions: int) -> int | None:
    """Return the first index that both texts hold; None where there is none or one is broken."""
    try:
        left, right = parse_indexes(completed, completions), parse_indexes(failed, completions)
    except MalformedIndexes:
        return None
    shared = [
        max(one.first, other.first)
        for one in left
        for other in right
        if one.first <= other.last and other.first <= one.last
    ]
    return min(shared, default=None)
