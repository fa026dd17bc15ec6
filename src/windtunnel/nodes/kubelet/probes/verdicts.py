"""What a probe's answers come to: a verdict changes when enough of them in a row say the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from windtunnel.machinery.tree import Tree


class Finding(Enum):
    """What is known of a container by one kind of probe."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    UNKNOWN = "unknown"


INITIAL: Final = {
    "liveness": Finding.HEALTHY,
    "readiness": Finding.UNHEALTHY,
    "startup": Finding.UNKNOWN,
}
"""What holds before the first answer."""


@dataclass(slots=True)
class Run:
    """Answers that say the same, one after the other."""

    healthy: bool = False
    length: int = 0

    def add(self, healthy: bool, probe: Tree) -> Finding | None:
        """Count one more answer; return the verdict where enough of them agree."""
        if healthy != self.healthy:
            self.healthy, self.length = healthy, 0
        self.length += 1
        name, usual = ("successThreshold", 1) if healthy else ("failureThreshold", 3)
        if self.length < int(probe.get(name) or usual):
            return None
        return Finding.HEALTHY if healthy else Finding.UNHEALTHY
