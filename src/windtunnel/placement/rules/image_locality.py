"""Nodes that already have a pod's images are preferred, by bytes, spread-weighted.

Source: kube-scheduler v1.36, plugin ImageLocality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from windtunnel.fleet import FleetView, Ints, PodView
from windtunnel.placement.verdict import Scope

_MIB: Final = 1024 * 1024
_LEAST: Final = 23 * _MIB
"""Below this an image is not worth staying for."""
_MOST_PER_CONTAINER: Final = 1000 * _MIB


@dataclass(frozen=True, slots=True)
class ImageLocality:
    """Rate nodes by the images they have."""

    name: ClassVar[str] = "ImageLocality"
    scope: ClassVar[Scope] = Scope.FACTS

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Every pod gets this score."""
        return True

    def rate(self, pod: PodView, view: FleetView) -> Ints:
        """Sum sizes, each scaled by the share of nodes that have the image."""
        everywhere = len(view.whole)
        total = np.zeros(len(view), np.int64)
        for image in pod.shape.images:
            size, nodes = view.image(image)
            if nodes.any():
                total += (size * (nodes / everywhere)).astype(np.int64)
        most = _MOST_PER_CONTAINER * pod.shape.container_count
        return 100 * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)
