"""What plugins offer: per resource, which devices are healthy, which are not, and since when.

A plugin that goes away leaves its devices behind, all unhealthy, for five minutes; then its
resource has none. A resource that was ever known keeps its name, at 0: nodes never lose one.

Source: kubelet v1.36, device manager; seen in recorded answers of a real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

GRACE_SECONDS: Final = 300.0
"""How long the devices of a plugin that went away are still counted."""
HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """One device as its plugin lists it; any health but "Healthy" is ill health."""

    id: str
    health: str
    nodes: tuple[int, ...] = ()
    """NUMA nodes; none where the plugin gave no topology."""

    @property
    def shown(self) -> str:
        """Return the health as a pod's status may have it."""
        return HEALTHY if self.health == HEALTHY else UNHEALTHY


@dataclass(frozen=True, slots=True)
class Figures:
    """How many devices of each resource there are, and how many of them can be used."""

    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]


@dataclass(slots=True)
class _Stock:
    """One resource."""

    healthy: set[str] = field(default_factory=set)
    unhealthy: set[str] = field(default_factory=set)
    listed: dict[str, ListedDevice] = field(default_factory=dict)
    """What the last list said, also of a plugin that has gone."""
    known: bool = False
    """Whether a list, or a checkpoint, ever told of devices since the plugin came."""
    restored: bool = False
    """Known from a checkpoint only."""
    stopped_at: float | None = None
    """Since when no plugin stands behind it."""


class Inventory:
    """All resources that plugins offer, or offered."""

    def __init__(self) -> None:
        self._stocks: dict[str, _Stock] = {}

    def restore(self, resources: Iterable[str], now: float) -> None:
        """Know resources from a checkpoint: no device of them can be used until plugins return."""
        for resource in resources:
            self._stocks[resource] = _Stock(known=True, restored=True, stopped_at=now)

    def missing(self) -> list[str]:
        """Return the resources that are known from a checkpoint, and of no plugin since."""
        return sorted(
            resource
            for resource, stock in self._stocks.items()
            if stock.restored and stock.stopped_at is not None
        )

    def connected(self, resource: str) -> None:
        """Take it that a plugin stands behind the resource; its devices come with its list."""
        self._stocks.setdefault(resource, _Stock()).stopped_at = None

    def stopped(self, resource: str, now: float) -> None:
        """Take it that the plugin has gone: its devices stay, unhealthy."""
        stock = self._stocks.get(resource)
        if stock is not None:
            stock.stopped_at = now
            stock.unhealthy |= stock.healthy
            stock.healthy = set()

    def take_list(self, resource: str, devices: Iterable[ListedDevice]) -> set[str]:
        """Take a plugin's list, which replaces the one before.

        Returns:
            The devices whose health has changed, or that are new; those that vanished are not
            among them.
        """
        stock = self._stocks.setdefault(resource, _Stock())
        before, stock.listed = stock.listed, {device.id: device for device in devices}
        stock.known, stock.restored = True, False
        stock.healthy = {one.id for one in stock.listed.values() if one.health == HEALTHY}
        stock.unhealthy = stock.listed.keys() - stock.healthy
        return {
            one.id
            for one in stock.listed.values()
            if one.id not in before or before[one.id].health != one.health
        }

    def offers(self, resource: str) -> bool:
        """Whether devices of the resource are to be looked for: there are some, or there were."""
        stock = self._stocks.get(resource)
        return stock is not None and bool(stock.healthy or stock.unhealthy or stock.restored)

    def knows(self, resource: str) -> bool:
        """Whether a list or a checkpoint told of the resource, and it has not been dropped."""
        stock = self._stocks.get(resource)
        return stock is not None and stock.known

    def healthy(self, resource: str) -> frozenset[str]:
        """Return the devices that can be used, held or not."""
        stock = self._stocks.get(resource)
        return frozenset() if stock is None else frozenset(stock.healthy)

    def listed(self, resource: str) -> Mapping[str, ListedDevice]:
        """Return what the last list said; devices that a plugin left behind are among it."""
        stock = self._stocks.get(resource)
        return {} if stock is None else stock.listed

    def registered(self) -> dict[str, list[str]]:
        """Return the healthy devices of every resource that is known, as a checkpoint has them."""
        return {
            resource: sorted(stock.healthy)
            for resource, stock in sorted(self._stocks.items())
            if stock.known
        }

    def figures(self, now: float) -> Figures:
        """Return how many devices there are; what went away too long ago counts as none."""
        capacity: dict[str, int] = {}
        allocatable: dict[str, int] = {}
        for resource, stock in sorted(self._stocks.items()):
            if stock.stopped_at is not None and now - stock.stopped_at > GRACE_SECONDS:
                stock.healthy, stock.unhealthy = set(), set()
                stock.restored = False
            if stock.known:
                capacity[resource] = len(stock.healthy) + len(stock.unhealthy)
                allocatable[resource] = len(stock.healthy)
        return Figures(capacity, allocatable)

    def expired(self, resource: str, now: float) -> bool:
        """Whether the resource's plugin went away too long ago to be waited for."""
        stock = self._stocks.get(resource)
        gone = None if stock is None else stock.stopped_at
        return gone is not None and now - gone > GRACE_SECONDS
