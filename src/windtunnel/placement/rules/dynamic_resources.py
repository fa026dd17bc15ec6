"""Device claims: pods without any pass.

Claims themselves are not judged yet; the plugin's place in scores and messages is kept.

Source: kube-scheduler v1.36, plugin DynamicResources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from windtunnel.fleet import FleetView, Ints, PodView
from windtunnel.placement.relief import Relief
from windtunnel.placement.verdict import NOTHING_TO_DO, Entrance, Scope, Verdict


@dataclass(frozen=True, slots=True)
class DynamicResources:
    """Let every pod pass; every node scores 0."""

    name: ClassVar[str] = "DynamicResources"
    scope: ClassVar[Scope] = Scope.FACTS

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Nothing to do without claims."""
        return NOTHING_TO_DO

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Let every row pass."""
        return Verdict(np.ones(len(view), np.bool_), np.zeros(len(view), np.bool_))

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """Nothing was refused, so nothing helps."""
        return False

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Every pod gets this score."""
        return True

    def same(self, pod: PodView, view: FleetView) -> int | None:
        """Without claims there is nothing to prefer."""
        return 0

    def compare(self, pod: PodView, view: FleetView) -> Ints:
        """Return 0 for every row."""
        return np.zeros(len(view), np.int64)
