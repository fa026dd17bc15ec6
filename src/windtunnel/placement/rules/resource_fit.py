"""A node must have what the pod asks for; how full it should become is a strategy.

Source: kube-scheduler v1.36, plugin NodeResourcesFit; message text is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from windtunnel.fleet import Bools, FleetView, Ints, NodeFacts, PodView, counts_as_scalar
from windtunnel.placement.relief import Relief, What
from windtunnel.placement.verdict import GO_ON, Entrance, Scope, Verdict

_PLAIN = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class FitStrategy:
    """``scoringStrategy`` of the plugin's arguments."""

    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = (("cpu", 1), ("memory", 1))
    """Resource and weight."""
    shape: tuple[tuple[int, int], ...] = ()
    """Utilisation in per cent and score (0 to 10), for RequestedToCapacityRatio."""


@dataclass(frozen=True, slots=True)
class ResourceFit:
    """Refuse nodes that lack a requested resource; rate the others by the strategy."""

    strategy: FitStrategy = FitStrategy()
    ignored: frozenset[str] = frozenset()
    ignored_groups: frozenset[str] = frozenset()

    name: ClassVar[str] = "NodeResourcesFit"
    scope: ClassVar[Scope] = Scope.RESOURCES

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Always look at nodes."""
        return GO_ON

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row; a resource the pod does not ask for never counts."""
        crowded = view.pods + 1 > view.allowed_pods
        refused = crowded.copy()
        never = np.zeros(len(crowded), np.bool_)
        reasons: list[tuple[str, Bools]] = [("Too many pods", crowded)] if crowded.any() else []
        for resource, wanted in self._counted(pod):
            have = view.having(resource)
            short = have - view.using(resource) < wanted
            if short.any():
                refused |= short
                never |= short & (have < wanted)
                reasons.append((f"Insufficient {resource}", short))
        return Verdict(~refused, never, tuple(reasons))

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A pod left or shrank, or a node came or grew and the pod would fit it when empty."""
        match relief:
            case Relief(What.POD_GONE | What.NODE_TAINTS):
                return True
            case Relief(What.POD_SHRUNK, pod_before=before, pod=after) if before and after:
                return any(
                    after.shape.requests.get(name, 0) < before.shape.requests.get(name, 0)
                    for name, _ in self._counted(pod)
                )
            case Relief(What.NODE_ADDED | What.NODE_ALLOCATABLE, before, node) if node is not None:
                # Ignored resources are not ignored here: so it is in the real scheduler.
                wanted = _wanted(pod)
                if node.allowed_pods < 1 or any(
                    node.allocatable.get(resource, 0) < value for resource, value in wanted
                ):
                    return False
                return before is None or _grew(before, node, (name for name, _ in wanted))
            case _:
                return False

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Every pod gets this score."""
        return True

    def rate(self, pod: PodView, view: FleetView) -> Ints:
        """Rate each resource by the strategy and average by weight."""
        ratio = self.strategy.type == "RequestedToCapacityRatio"
        total = np.zeros(len(view), np.int64)
        weights = np.zeros(len(view), np.int64)
        for resource, weight in self.strategy.resources:
            wanted = pod.shape.scored.get(resource, 0)
            if wanted == 0 and resource not in _PLAIN:
                continue
            allocatable = view.having(resource)
            rating = self._rating(_used(view, resource) + wanted, allocatable)
            counts = rating > 0 if ratio else allocatable != 0
            total += np.where(counts, rating * weight, 0)
            weights += np.where(counts, weight, 0)
        if ratio:
            average = total / np.maximum(weights, 1)
            return np.floor(average + 0.5).astype(np.int64)
        return total // np.maximum(weights, 1)

    def _counted(self, pod: PodView) -> Iterable[tuple[str, int]]:
        """Return what the filter counts, in the order in which shortages are told."""
        return (
            (resource, wanted)
            for resource, wanted in _wanted(pod)
            if resource in _PLAIN
            or (
                resource not in self.ignored
                and resource.partition("/")[0] not in self.ignored_groups
            )
        )

    def _rating(self, taken: Ints, allocatable: Ints) -> Ints:
        divisor = np.maximum(allocatable, 1)
        there = allocatable > 0
        match self.strategy.type:
            case "LeastAllocated":
                fits = there & (taken <= allocatable)
                return np.where(fits, (allocatable - taken) * 100 // divisor, 0)
            case "MostAllocated":
                return np.where(there, np.minimum(taken, allocatable) * 100 // divisor, 0)
            case _:
                full = np.where(taken > allocatable, 100, taken * 100 // divisor)
                return np.where(there, _broken_line(full, self.strategy.shape), 0)


def _wanted(pod: PodView) -> list[tuple[str, int]]:
    """Return what the pod asks for: the plain resources first, the others by name."""
    requests = pod.shape.requests
    others = sorted(name for name in requests if counts_as_scalar(name))
    return [(name, requests[name]) for name in (*_PLAIN, *others) if requests.get(name, 0) > 0]


def _used(view: FleetView, resource: str) -> Ints:
    match resource:
        case "cpu":
            return view.nonzero_cpu
        case "memory":
            return view.nonzero_memory
        case _:
            return view.using(resource)


def _grew(before: NodeFacts, node: NodeFacts, resources: Iterable[str]) -> bool:
    return node.allowed_pods > before.allowed_pods or any(
        node.allocatable.get(resource, 0) > before.allocatable.get(resource, 0)
        for resource in resources
    )


def _broken_line(full: Ints, shape: tuple[tuple[int, int], ...]) -> Ints:
    """Interpolate between the points (per cent, score of 10), cut towards zero."""
    points = [(utilisation, score * 10) for utilisation, score in shape]
    found = np.full(len(full), points[-1][1], np.int64)
    for (left, low), (right, high) in reversed(list(pairwise(points))):
        rise = (high - low) * (full - left)
        step = np.sign(rise) * (np.abs(rise) // (right - left))
        found = np.where(full <= right, low + step, found)
    return np.where(full <= points[0][0], points[0][1], found)
