"""Labels of nodes as columns of small numbers, made for a key when it is first asked about.

The value of row ``r`` is ``values[ids[r]]``; -1 where the node lacks the label. A question about a
label is answered once per distinct value and then spread over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from windtunnel.fleet.arrays import Bools, Ints
from windtunnel.fleet.node_terms import NodeChoice, NodeTerm
from windtunnel.machinery.selectors import Requirement

_ANSWERS_KEPT: Final = 1024


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """One label over all rows."""

    ids: Ints
    values: tuple[str, ...]

    @property
    def present(self) -> Bools:
        """Rows that have the label."""
        return self.ids >= 0

    def totals(self, counts: Ints) -> Ints:
        """Sum a count per row over rows of equal value; index it with ``ids`` (-1 finds 0)."""
        sums = np.bincount(self.ids + 1, counts, len(self.values) + 1).astype(np.int64)
        return np.append(sums[1:], 0)


class NodeLabels:
    """Answers questions about the labels and names of rows."""

    def __init__(self, names: Sequence[str], labels: Iterable[Mapping[str, str]]) -> None:
        self._names = names
        self._labels = list(labels)
        self._rows: dict[str, int] | None = None
        self._columns: dict[str, LabelColumn] = {}
        self._answers: dict[object, Bools] = {}

    def relabel(self, row: int, labels: Mapping[str, str]) -> None:
        """Learn a node's labels; what was found of labels that stay as they are still holds."""
        before, self._labels[row] = self._labels[row], labels
        changed = [key for key in self._columns if before.get(key) != labels.get(key)]
        for key in changed:
            del self._columns[key]
        if changed:
            self._answers.clear()

    def column(self, key: str) -> LabelColumn:
        """Return the column of a label."""
        found = self._columns.get(key)
        if found is None:
            vocabulary: dict[str, int] = {}
            ids = np.fromiter(
                (
                    -1
                    if (value := labels.get(key)) is None
                    else vocabulary.setdefault(value, len(vocabulary))
                    for labels in self._labels
                ),
                np.int64,
                len(self._labels),
            )
            ids.flags.writeable = False
            found = self._columns[key] = LabelColumn(ids, tuple(vocabulary))
        return found

    def chosen(self, choice: NodeChoice) -> Bools:
        """Return the rows that a pod's demands on its node leave."""
        return self._answer(choice, lambda: self._chosen(choice))

    def matching(self, term: NodeTerm) -> Bools:
        """Return the rows that one term means."""
        return self._answer(term, lambda: self._matching(term))

    def _chosen(self, choice: NodeChoice) -> Bools:
        found = np.ones(len(self._names), np.bool_)
        for requirement in choice.selector:
            found &= self._meeting(requirement)
        if choice.terms is not None:
            any_term = np.zeros(len(self._names), np.bool_)
            for term in choice.terms:
                any_term |= self.matching(term)
            found &= any_term
        return found

    def _matching(self, term: NodeTerm) -> Bools:
        if term.empty:
            return np.zeros(len(self._names), np.bool_)
        found = np.ones(len(self._names), np.bool_)
        for requirement in term.labels:
            found &= self._meeting(requirement)
        for requirement in term.names:
            found &= self._named(requirement)
        return found

    def _meeting(self, requirement: Requirement) -> Bools:
        column = self.column(requirement.key)
        key = requirement.key
        answers = [requirement.matches({key: value}) for value in column.values]
        answers.append(requirement.matches({}))  # ids of -1 find the last
        return np.array(answers, np.bool_)[column.ids]

    def _named(self, requirement: Requirement) -> Bools:
        if self._rows is None:
            self._rows = {name: row for row, name in enumerate(self._names)}
        found = np.zeros(len(self._names), np.bool_)
        found[[self._rows[name] for name in requirement.values if name in self._rows]] = True
        return found if requirement.operator == "in" else ~found

    def _answer(self, question: object, work: Callable[[], Bools]) -> Bools:
        found = self._answers.get(question)
        if found is None:
            if len(self._answers) >= _ANSWERS_KEPT:
                self._answers.clear()
            found = self._answers[question] = work()
            found.flags.writeable = False
        return found
