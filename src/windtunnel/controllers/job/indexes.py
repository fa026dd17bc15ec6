"""Completion indexes of Indexed Jobs, and the text in which a status lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

INDEX: Final = "batch.kubernetes.io/job-completion-index"


def index_of(annotations: Mapping[str, str], completions: int | None) -> int | None:
    """Return a pod's completion index, or None for none or one beyond the completions."""
    text = annotations.get(INDEX, "")
    if not (text.isascii() and text.isdecimal()):
        return None
    number = int(text)
    return number if completions is not None and number < completions else None


def parse_indexes(text: str | None, completions: int) -> set[int]:
    """Return the indexes in ``1,3-5``, without those beyond the completions."""
    indexes: set[int] = set()
    for part in filter(None, (text or "").split(",")):
        low, dash, high = part.partition("-")
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            continue
        indexes.update(range(first, min(last, completions - 1) + 1))
    return indexes


def format_indexes(indexes: Iterable[int]) -> str:
    """Return ``0,1,3-5``: runs of three and more are drawn together."""
    runs: list[tuple[int, int]] = []
    for number in sorted(indexes):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ",".join(
        str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}"
        for first, last in runs
    )
