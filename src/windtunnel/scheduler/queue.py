"""The scheduling queue: who is next, who backs off, and who waits for news.

Three places: active (a heap by priority, then age), backoff (by expiry), and the pool of pods that
no news has relieved yet. News (``tell``) is put to the rules that refused a pod; none comes between
``pop`` and ``put_back``, for the engine keeps news back while a turn is under way.

Source: kube-scheduler v1.36, PriorityQueue with queueing hints and pop from backoff.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from math import floor
from typing import Final

from windtunnel.fleet import PodView
from windtunnel.kernel import Clock
from windtunnel.machinery.tree import Key
from windtunnel.placement import Relief
from windtunnel.scheduler.pool import Pool
from windtunnel.scheduler.waiting import GateRefusal, Place, Waiting

POOL_LIMIT_SECONDS: Final = 300.0
"""After so long in the pool a pod is tried again without news."""


Worth = Callable[[Waiting, Relief], bool]
"""Asks the rules that refused a pod whether the news may help it."""
Gating = Callable[[PodView], GateRefusal | None]
"""Says whether a pod may stand in line."""


_Entry = tuple[float, int, float, int, Waiting]
"""Expiry (0 in the active line), priority reversed, age, ticket."""


class SchedulingQueue:
    """Pods that wait for a node."""

    def __init__(
        self,
        clock: Clock,
        gating: Gating,
        worth: Worth,
        initial_backoff_seconds: float = 1.0,
        max_backoff_seconds: float = 10.0,
    ) -> None:
        self._clock, self._gating, self._worth = clock, gating, worth
        self._initial, self._max = initial_backoff_seconds, max_backoff_seconds
        self._pods: dict[Key, Waiting] = {}
        self._pool = Pool()
        self._held: set[Key] = set()
        self._active: list[_Entry] = []
        self._backoff: list[_Entry] = []
        self._errors: list[_Entry] = []
        self._tickets = 0

    def __len__(self) -> int:
        return len(self._pods)

    def get(self, key: Key) -> PodView | None:
        """Return a waiting pod, or None."""
        found = self._pods.get(key)
        return found.pod if found else None

    def gate_of(self, key: Key) -> GateRefusal | None:
        """Return why a pod may not stand in line, or None."""
        found = self._pods.get(key)
        return found.gate if found else None

    def standing(self, place: Place) -> list[Key]:
        """Return who stands in one place, by key."""
        return sorted(key for key, one in self._pods.items() if one.place is place)

    @property
    def ready(self) -> bool:
        """Whether ``pop`` would return a pod."""
        self._trim(self._active)
        self._trim(self._backoff)
        return bool(self._active or self._backoff)

    def add(self, pod: PodView) -> None:
        """Let a pod stand in line, or in the pool where its gates are shut."""
        waiting = Waiting(pod, self._clock.now())
        self._pods[pod.key] = waiting
        self._enter(waiting, Place.ACTIVE)

    def update(self, pod: PodView, reliefs: Iterable[Relief]) -> None:
        """Learn a waiting pod's changed self; ``reliefs`` is what the change may be good for."""
        waiting = self._pods[pod.key]
        waiting.pod = pod
        if waiting.place is Place.ACTIVE:
            self._enter(waiting, Place.ACTIVE)  # its priority may have changed
        elif waiting.place is Place.POOL:
            self._pool.put(waiting)
            for relief in reliefs:
                if self._worth(waiting, relief):
                    self._leave_pool(waiting)
                    break

    def remove(self, key: Key) -> None:
        """Forget a pod."""
        waiting = self._pods.pop(key, None)
        if waiting is not None:
            self._pool.remove(key)
            waiting.ticket = -1

    def pop(self) -> Waiting | None:
        """Take the next pod; without active ones, the head of the backoff line is taken early."""
        self._trim(self._active)
        self._trim(self._backoff)
        if self._active:
            waiting = heapq.heappop(self._active)[-1]
        elif self._backoff:
            waiting = heapq.heappop(self._backoff)[-1]
        else:
            return None
        waiting.place, waiting.ticket = Place.FLYING, -1
        waiting.gate = None
        return waiting

    def done(self, waiting: Waiting) -> None:
        """Forget a popped pod: it has a node, or needs none."""
        self._pods.pop(waiting.pod.key, None)

    def put_back(self, waiting: Waiting, rejectors: frozenset[str]) -> None:
        """Return a popped pod that found no node; without rejectors it was an error."""
        waiting.since = self._clock.now()
        waiting.rejectors = rejectors
        self._pods[waiting.pod.key] = waiting
        if rejectors:
            waiting.attempts += 1
            waiting.errors = 0
            self._to_pool(waiting)
        else:
            waiting.errors += 1
            self._enter(waiting, Place.BACKOFF)

    def activate(self, key: Key) -> None:
        """Let a waiting pod stand in line at once, whatever it waits for."""
        waiting = self._pods.get(key)
        if waiting is not None and waiting.place in (Place.POOL, Place.BACKOFF):
            self._enter(waiting, Place.ACTIVE)

    def hold(self, key: Key) -> None:
        """Let no news relieve a pod until ``release``, while room for it is still being made."""
        self._held.add(key)

    def release(self, key: Key) -> None:
        """Let news relieve the pod again; what came meanwhile stays unheard."""
        self._held.discard(key)

    def tell(self, relief: Relief, concerns: Callable[[PodView], bool] | None = None) -> None:
        """Spread news among the pods of the pool; pods that are alike are asked about once."""
        relieved: list[Waiting] = []
        for group in self._pool.groups():
            first = next(iter(group))
            if (concerns is None or concerns(first.pod)) and self._worth(first, relief):
                relieved += [one for one in group if one.pod.key not in self._held]
        for waiting in self._pool.in_order(relieved):
            self._leave_pool(waiting)

    def flush_backoff(self) -> None:
        """Let pods whose backoff has ended stand in line; due once a second."""
        second = floor(self._clock.now())
        for line in (self._backoff, self._errors):
            self._trim(line)
            while line and line[0][0] < second:
                self._enter(heapq.heappop(line)[-1], Place.ACTIVE)
                self._trim(line)

    def flush_pool(self) -> None:
        """Try pods again that no news has relieved for too long; due every thirty seconds."""
        now = self._clock.now()
        for waiting in self._pool:
            if now - waiting.since > POOL_LIMIT_SECONDS and waiting.gate is None:
                self._leave_pool(waiting)

    def _leave_pool(self, waiting: Waiting) -> None:
        self._set_expiry(waiting)
        backing_off = waiting.expiry >= floor(self._clock.now())
        self._enter(waiting, Place.BACKOFF if backing_off else Place.ACTIVE)

    def _enter(self, waiting: Waiting, place: Place) -> None:
        waiting.gate = self._gating(waiting.pod)
        if waiting.gate is not None:
            self._to_pool(waiting)
            return
        self._pool.remove(waiting.pod.key)
        self._tickets += 1
        waiting.ticket = self._tickets
        waiting.place = place
        order = (-waiting.pod.priority, waiting.since, waiting.ticket)
        if place is Place.ACTIVE:
            heapq.heappush(self._active, (0.0, *order, waiting))
            return
        self._set_expiry(waiting)
        line = self._backoff if waiting.rejectors else self._errors
        heapq.heappush(line, (waiting.expiry, *order, waiting))

    def _to_pool(self, waiting: Waiting) -> None:
        waiting.place, waiting.ticket = Place.POOL, -1
        self._pool.put(waiting)

    def _set_expiry(self, waiting: Waiting) -> None:
        count = waiting.errors or waiting.attempts
        if not count:
            waiting.expiry = 0.0
            return
        seconds = min(self._initial * 2.0 ** min(count - 1, 60), self._max)
        waiting.expiry = float(floor(waiting.since + seconds))

    @staticmethod
    def _trim(line: list[_Entry]) -> None:
        """Drop entries at the head that are no longer valid."""
        while line and line[0][-1].ticket != line[0][-2]:
            heapq.heappop(line)
