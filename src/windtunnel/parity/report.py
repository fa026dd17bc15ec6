"""What came of a replay: for each recorded case, in what the answer differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

LONGEST_VALUE = 200
"""Characters of a differing value that are shown."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case: it is met when there are no differences."""

    case: str
    group: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of one file, in its order."""

    outcomes: tuple[CaseResult, ...]

    @property
    def passed(self) -> int:
        """How many cases are met."""
        return sum(not outcome.differences for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """How many are not."""
        return len(self.outcomes) - self.passed

    def by_group(self) -> list[tuple[str, int, int]]:
        """Return (group, met, all) in the order of names."""
        met = Counter(o.group for o in self.outcomes if not o.differences)
        every = Counter(o.group for o in self.outcomes)
        return [(group, met[group], every[group]) for group in sorted(every)]

    def summary(self) -> str:
        """Return the line that closes every replay."""
        return f"{self.passed} passed, {self.failed} failed"


def differences(want: Any, got: Any, path: str = "") -> list[str]:
    """Return where two trees differ, one line a place."""
    if isinstance(want, dict) and isinstance(got, dict):
        lines = []
        for key in sorted(set(want) | set(got)):
            place = f"{path}.{key}"
            if key not in got:
                lines.append(f"{place}: missing, want {_short(want[key])}")
            elif key not in want:
                lines.append(f"{place}: unexpected {_short(got[key])}")
            else:
                lines += differences(want[key], got[key], place)
        return lines
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [
            line
            for place, (one, other) in enumerate(zip(want, got, strict=True))
            for line in differences(one, other, f"{path}[{place}]")
        ]
    # True == 1 in Python, but not in JSON.
    same = want == got and isinstance(want, bool) == isinstance(got, bool)
    return [] if same else [f"{path}: want {_short(want)} got {_short(got)}"]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
