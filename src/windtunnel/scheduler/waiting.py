"""A pod that waits for a node: where it stands, what it has been through, and what shuts it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from windtunnel.fleet import PodView
from windtunnel.placement import Code


class Place(Enum):
    """Where a pod stands."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    POOL = "unschedulable"
    FLYING = "being scheduled"


@dataclass(frozen=True, slots=True)
class GateRefusal:
    """Why a pod may not even stand in line."""

    plugin: str
    reason: str
    code: Code = Code.UNRESOLVABLE


@dataclass(slots=True)
class Waiting:
    """One pod in the queue, with its history."""

    pod: PodView
    since: float
    place: Place = Place.POOL
    attempts: int = 0
    """Attempts that ended unschedulable."""
    errors: int = 0
    """Errors in a row."""
    rejectors: frozenset[str] = frozenset()
    gate: GateRefusal | None = None
    ticket: int = 0
    """Which heap entry is the valid one."""
    expiry: float = field(default=0.0)
