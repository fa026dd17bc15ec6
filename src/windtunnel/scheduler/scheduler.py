"""The scheduler on the loop: watches feed the engine, steps take attempts and write them.

A step takes a few pods and stays well under 10 ms, so that requests have their turn. Everything a
step decides is assumed before it is written; a binding that is refused is taken back.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Final

from windtunnel.client import Client
from windtunnel.client.event_series import ENDED_SECONDS, REFRESH_SECONDS
from windtunnel.fleet import PodView
from windtunnel.kernel import Loop, Parked, Ticket
from windtunnel.machinery.change import Change
from windtunnel.machinery.errors import ApiError
from windtunnel.scheduler import words
from windtunnel.scheduler.configuration import Configuration, read_configuration
from windtunnel.scheduler.engine import WATCHED, Engine
from windtunnel.scheduler.turn import Attempt, Turn
from windtunnel.scheduler.writing import Writer

_BATCH: Final = 8
"""Pods a step takes."""
_PIECES: Final = 8
"""Pieces of a turn that a step plays; one is a node or a pod on it that is tried, up to 500 µs."""
_TICK_SECONDS: Final = 1.0
_POOL_TICKS: Final = 30


class Scheduler:
    """Gives nodes to pods, through any API server."""

    def __init__(
        self,
        client: Client,
        loop: Loop,
        configuration: Configuration | None = None,
        *,
        host: str | None = None,
    ) -> None:
        self.engine = Engine(configuration or read_configuration(), loop.clock)
        self._client, self._loop = client, loop
        self._writer = Writer(client, loop.clock, os.uname().nodename if host is None else host)
        self._unknown = set(WATCHED)
        """Resources whose present state has not been delivered in full."""
        self._stops: list[Callable[[], None]] = []
        self._turn: Turn | None = None
        """A turn that was not over when its step was."""
        self._armed: Ticket | None = None
        self._tick: Ticket | None = None
        self._ticks = 0

    def start(self) -> None:
        """Watch, and schedule from the moment everything is known."""
        for resource in WATCHED:
            self._stops.append(self._client.watch(resource, partial(self._deliver, resource)))
        self._tick = self._loop.call_after(_TICK_SECONDS, self._ticked)

    def stop(self) -> None:
        """Stop watching and scheduling; what was written stays."""
        for stop in self._stops:
            stop()
        self._stops.clear()
        for ticket in (self._armed, self._tick):
            if ticket is not None:
                ticket.cancel()
        if self._turn is not None:
            self._turn.give_up()
            self._turn = None
        self._unknown = set(WATCHED)

    def _deliver(self, resource: str, change: Change) -> None:
        if change.type == "SYNCED":
            self._unknown.discard(resource)
            if not self._unknown:
                self.engine.fleet.view()  # lays all rows out now, not in the first step
        else:
            self.engine.observe(resource, change)
        self._arm()

    def _arm(self) -> None:
        busy = self._armed is not None and self._armed.pending
        work = self._turn is not None or self.engine.queue.ready
        if work and not busy and not self._unknown:
            self._armed = self._loop.call_soon(self._step)

    def _step(self) -> None:
        placed: list[Attempt] = []
        failed: Attempt | None = None
        while len(placed) < _BATCH and failed is None:
            turn, self._turn = self._turn or self.engine.turn(), None
            if not turn.go_on(_PIECES):
                self._turn = turn
                break
            if turn.attempt is None:
                break
            if turn.attempt.outcome == "placed":
                placed.append(turn.attempt)
            else:
                failed = turn.attempt  # what it writes may change what the next pod finds
        self._carry_out(placed)
        if failed is not None:
            self._tell_failure(failed)
        self._arm()

    def _carry_out(self, placed: list[Attempt]) -> None:
        if not placed:
            return
        for attempt, error in self._writer.bind(placed):
            if isinstance(error, Parked):
                error.resume(partial(self._carry_out, [attempt]))
            elif isinstance(error, ApiError):
                self.engine.between_turns(partial(self._take_back, attempt.pod, error))
            else:
                raise error

    def _take_back(self, pod: PodView, error: ApiError) -> None:
        if self.engine.forget(pod):
            message = f'running Bind plugin "DefaultBinder": {error.message}'
            self._writer.fail(pod, words.SCHEDULER_ERROR, message, "")

    def _tell_failure(self, attempt: Attempt) -> None:
        pod = attempt.pod
        if attempt.outcome == "skipped":
            self._writer.skip(pod)
            return
        nominated = pod.nominated if attempt.renominated else None
        self._writer.fail(pod, words.UNSCHEDULABLE, attempt.message, nominated)
        self._writer.demote(attempt.demoted)
        chosen = attempt.preemption.chosen if attempt.preemption else None
        if chosen is not None:
            victims = [one for one in chosen.victims if not one.terminating]
            # As in the real one: only the last victim's end is news for whom they make room.
            self.engine.queue.hold(pod.key)
            self._writer.evict(pod, chosen.node, victims[:-1])
            self.engine.queue.release(pod.key)
            self._writer.evict(pod, chosen.node, victims[-1:])

    def _ticked(self) -> None:
        self._ticks += 1
        self.engine.queue.flush_backoff()
        if self._ticks % _POOL_TICKS == 0:
            self.engine.queue.flush_pool()
        if self._ticks % ENDED_SECONDS == 0:
            self._writer.end_series()
        if self._ticks % REFRESH_SECONDS == 0:
            self._writer.refresh_series()
        self._tick = self._loop.call_after(_TICK_SECONDS, self._ticked)
        self._arm()
