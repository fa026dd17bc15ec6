"""Nodes on which the pod brings resources into balance are preferred.

Balance is one minus the spread of the used fractions, before and after the pod. Floating point is
computed in the real scheduler's order, for the result is cut to whole points.

Source: kube-scheduler v1.36, plugin NodeResourcesBalancedAllocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from windtunnel.fleet import FleetView, Ints, PodView
from windtunnel.placement.verdict import Scope

_LEAST: Final = -1e18


@dataclass(frozen=True, slots=True)
class BalancedAllocation:
    """Rate nodes by what the pod does to their balance; unchanged balance is 75."""

    resources: tuple[str, ...] = ("cpu", "memory")

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    scope: ClassVar[Scope] = Scope.RESOURCES

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Only for pods that ask for one of the resources."""
        return any(pod.shape.requests.get(resource) for resource in self.resources)

    def rate(self, pod: PodView, view: FleetView) -> Ints:
        """Compare balance with and without the pod."""
        wanted = pod.shape.requests
        counted = [one for one in self.resources if wanted.get(one) or "/" not in one]
        allocatable = np.column_stack([view.having(one) for one in counted])
        used = np.column_stack([view.using(one) for one in counted])
        after = used + np.array([wanted.get(one, 0) for one in counted], np.int64)
        both = _balance(np.concatenate((after, used)), np.concatenate((allocatable, allocatable)))
        return 50 + (50 + both[: len(used)] - both[len(used) :]) // 2


def _balance(used: Ints, allocatable: Ints) -> Ints:
    """Return 0 to 100 per row; resources that a node lacks do not count."""
    counts = allocatable != 0
    fractions = np.minimum(1.0, used / np.where(counts, allocatable, 1))
    number = counts.sum(axis=1)
    spread: npt.NDArray[np.float64] = np.zeros(len(used))
    if fractions.shape[1] >= 2:
        lowest = np.where(counts, fractions, 2.0).min(axis=1)
        highest = np.where(counts, fractions, -1.0).max(axis=1)
        spread = np.where(number == 2, (highest - lowest) / 2, spread)
    if fractions.shape[1] > 2:
        spread = np.where(number > 2, _deviation(fractions, counts, number), spread)
    # Requests that 64 bits count below zero can spread without bound; what is kept fits again.
    return np.maximum((1.0 - spread) * 100, _LEAST).astype(np.int64)


def _deviation(
    fractions: npt.NDArray[np.float64], counts: npt.NDArray[np.bool_], number: Ints
) -> npt.NDArray[np.float64]:
    number = np.maximum(number, 1)
    total = np.zeros(len(fractions))
    for column in range(fractions.shape[1]):
        total += np.where(counts[:, column], fractions[:, column], 0.0)
    mean = total / number
    squares = np.zeros(len(fractions))
    for column in range(fractions.shape[1]):
        apart = fractions[:, column] - mean
        squares += np.where(counts[:, column], apart * apart, 0.0)
    return np.sqrt(squares / number)
