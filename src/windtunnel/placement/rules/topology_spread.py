"""Pods that belong together are spread over domains: zones, racks, hosts.

A hard constraint refuses nodes that would make a domain too full; a soft one prefers emptier
domains. A profile may give constraints to pods that have none.

Source: kube-scheduler v1.36, plugin PodTopologySpread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from windtunnel.fleet import (
    HARD,
    Bools,
    FleetView,
    Ints,
    PodView,
    SpreadConstraint,
    distinct,
)
from windtunnel.machinery.selectors import EVERYTHING
from windtunnel.placement.relief import Relief, What
from windtunnel.placement.verdict import GO_ON, NOTHING_TO_DO, Entrance, Scope, Verdict

_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONE: Final = "topology.kubernetes.io/zone"
_MISSING: Final = "node(s) didn't match pod topology spread constraints (missing required label)"
_SKEW: Final = "node(s) didn't match pod topology spread constraints"

SYSTEM_DEFAULTS: Final = (
    SpreadConstraint(_HOSTNAME, 3, False, EVERYTHING),
    SpreadConstraint(_ZONE, 5, False, EVERYTHING),
)


@dataclass(frozen=True, slots=True)
class TopologySpread:
    """Refuse nodes that break hard constraints; rate the others by the soft ones."""

    defaults: tuple[SpreadConstraint, ...] = SYSTEM_DEFAULTS
    """For pods without constraints of their own; the selector is that of their service or owner."""
    system_defaults: bool = True

    name: ClassVar[str] = "PodTopologySpread"
    scope: ClassVar[Scope] = Scope.FLEET

    def constraints(
        self, pod: PodView, view: FleetView, *, hard: bool
    ) -> tuple[SpreadConstraint, ...]:
        """Return the pod's constraints of one kind, or the profile's where it has none at all."""
        own = pod.shape.spread
        if own:
            return tuple(one for one in own if one.hard is hard)
        if not self.defaults:
            return ()
        selector = view.selector_of(pod)
        if selector.empty:
            return ()
        return tuple(replace(one, selector=selector) for one in self.defaults if one.hard is hard)

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Nothing to do without hard constraints."""
        return GO_ON if self.constraints(pod, view, hard=True) else NOTHING_TO_DO

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row, constraint by constraint: the key first, then the skew."""
        constraints = self.constraints(pod, view, hard=True)
        whole = view.whole
        keyed = _has_keys(whole, constraints)
        missing = np.zeros(len(view), np.bool_)
        skewed = np.zeros(len(view), np.bool_)
        for one in constraints:
            column, own = whole.label(one.topology_key), view.label(one.topology_key)
            missing |= ~own.present & ~skewed
            eligible = keyed & _included(one, pod, whole)
            counts = whole.count(one.counted_in(pod.key.namespace))
            totals = column.totals(np.where(eligible, counts, 0))
            domains = distinct(column.ids[eligible])
            # Without any domain nothing is too full; with too few, an empty one is assumed.
            fewest = int(totals[domains].min()) if len(domains) else 2**31 - 1
            if len(domains) and len(domains) < one.min_domains:
                fewest = 0
            itself = one.selector.matches(pod.shape.labels)
            skewed |= (totals[own.ids] + itself - fewest > one.max_skew) & ~missing
        told = ((_MISSING, missing), (_SKEW, skewed))
        return Verdict(
            ~(missing | skewed), missing, tuple(reason for reason in told if reason[1].any())
        )

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """Counted pods came, went or changed, or a node with the keys did."""
        constraints = self.constraints(pod, view, hard=True)
        match relief.what:
            case What.NODE_ADDED | What.NODE_REMOVED | What.NODE_LABELS | What.NODE_TAINTS:
                return _node_matters(constraints, relief)
            case What.OWN_TOLERATIONS:
                return any(one.honor_taints for one in constraints)
            case What.POD_PLACED | What.POD_GONE | What.POD_LABELS:
                return _pod_matters(constraints, pod, relief)
            case _:
                return False

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Only with soft constraints."""
        return bool(self.constraints(pod, view, hard=False))

    def same(self, pod: PodView, view: FleetView) -> int | None:
        """Counts always tell nodes apart."""
        return None

    def compare(self, pod: PodView, view: FleetView) -> Ints:
        """Prefer nodes in emptier domains; nodes without the keys get 0."""
        constraints = self.constraints(pod, view, hard=False)
        whole = view.whole
        need_keys = bool(pod.shape.spread) or not self.system_defaults
        keyed = _has_keys(whole, constraints) if need_keys else np.ones(len(whole), np.bool_)
        rated = _has_keys(view, constraints) if need_keys else np.ones(len(view), np.bool_)
        raw = np.zeros(len(view))
        for one in constraints:
            column, own = whole.label(one.topology_key), view.label(one.topology_key)
            counts = whole.count(one.counted_in(pod.key.namespace))
            if one.topology_key == _HOSTNAME:
                size = int(rated.sum())
                found = view.count(one.counted_in(pod.key.namespace))
            else:
                size = len(distinct(own.ids[rated] + 1))
                eligible = keyed & _included(one, pod, whole)
                found = column.totals(np.where(eligible, counts, 0))[own.ids]
            weight = math.log(size + 2)
            raw += np.where(own.present, found * weight + (one.max_skew - 1), 0.0)
        return _spread_scores(np.floor(raw + 0.5).astype(np.int64), rated)


def _spread_scores(raw: Ints, rated: Bools) -> Ints:
    if not rated.any():
        return np.zeros(len(raw), np.int64)
    most, least = int(raw[rated].max()), int(raw[rated].min())
    if most == 0:
        return np.where(rated, 100, 0)
    return np.where(rated, 100 * (most + least - raw) // most, 0)


def _has_keys(view: FleetView, constraints: tuple[SpreadConstraint, ...]) -> Bools:
    found = np.ones(len(view), np.bool_)
    for one in constraints:
        found &= view.label(one.topology_key).present
    return found


def _included(one: SpreadConstraint, pod: PodView, view: FleetView) -> Bools:
    """Return the rows that a constraint's inclusion policies let count."""
    found = np.ones(len(view), np.bool_)
    if one.honor_affinity:
        found &= view.chosen(pod.shape.node_choice)
    if one.honor_taints:
        found &= view.untolerated(pod.shape.tolerations, HARD) == 0
    return found


def _node_matters(constraints: tuple[SpreadConstraint, ...], relief: Relief) -> bool:
    keys = [one.topology_key for one in constraints]
    before, after = relief.node_before, relief.node
    had = before is not None and all(key in before.labels for key in keys)
    has = after is not None and all(key in after.labels for key in keys)
    if before is None or after is None:
        return had or has
    if had != has:
        return True
    changed = before.taints != after.taints or any(
        before.labels.get(key) != after.labels.get(key) for key in keys
    )
    return has and changed


def _pod_matters(constraints: tuple[SpreadConstraint, ...], pod: PodView, relief: Relief) -> bool:
    states = [one for one in (relief.pod_before, relief.pod) if one is not None]
    if any(one.key.namespace != pod.key.namespace for one in states):
        return False
    if len(states) == 2:
        before, after = states
        return any(
            one.selector.matches(before.shape.labels) != one.selector.matches(after.shape.labels)
            for one in constraints
        )
    return any(one.selector.matches(states[0].shape.labels) for one in constraints)
