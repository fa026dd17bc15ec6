"""The player: takes objects as they change and plays their stages, many in one step.

An object's newest state waits in line; a newer one replaces it and takes back a stage that was
still to come. A glance at it is enough to leave alone what no stage matches. What the API server
refuses is dropped until the object's next change, unless the refusal was only for now; a refusal
because the object has changed means that the change is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from windtunnel.client import Client, Write
from windtunnel.kernel import DONE, Line, Loop, Settled, Ticket
from windtunnel.machinery.errors import ApiError, ServiceUnavailable, Timeout, TooManyRequests
from windtunnel.machinery.tree import Key, Tree, decode
from windtunnel.nodes.played.glance import Glance
from windtunnel.nodes.played.language import Scene
from windtunnel.nodes.played.stages import Stage, choose

AT_ONCE: Final = 1
"""Objects a step: others hear of each before the next, as from a real kwok, whose pods become ready
one by one; a step more costs some microseconds only."""
_FOR_NOW: Final = (TooManyRequests, ServiceUnavailable, Timeout)

Names = Mapping[str, Any]


class Cast(Protocol):
    """What the player must be told about the objects of one resource."""

    resource: str
    paths: tuple[str, ...]
    """What a glance must show besides what the stages test."""

    def names(self, tree: Tree) -> Names | None:
        """Return the names that templates know for this object; None if it is not to be played."""


class Player:
    """Plays the stages of one resource."""

    def __init__(
        self,
        client: Client,
        loop: Loop,
        cast: Cast,
        stages: Sequence[Stage],
        draw: Callable[[], float],
    ) -> None:
        self._client, self._loop, self._cast = client, loop, cast
        self._stages = tuple(stage for stage in stages if stage.resource == cast.resource)
        self._draw = draw
        self.glance = Glance(
            {*cast.paths, *(path for stage in self._stages for path in stage.paths)}
        )
        self._newest: dict[Key, tuple[bytes, Sequence[Stage]] | None] = {}
        """The state each object in line is in, and what matches; None: that has yet to be read."""
        self._later: dict[Key, Ticket] = {}
        self._chosen: dict[Key, Stage] = {}
        """Stages that were chosen earlier and whose time has come."""
        self._line: Line[Key] = Line(loop, f"played {cast.resource}", self._work, at_once=AT_ONCE)

    def take(self, key: Key, body: bytes, seen: Tree) -> None:
        """Play an object in its newest state soon; forget what was still planned for it.

        Args:
            key: Which object.
            body: Its state.
            seen: What a glance at that shows.
        """
        matching = self._matching(seen)
        if not matching:
            self.drop(key)
            return
        self._unplan(key)
        self._newest[key] = body, matching
        self._line.add(key)

    def read(self, key: Key) -> None:
        """Play an object soon, in the state it is in then."""
        self._unplan(key)
        self._newest[key] = None
        self._line.add(key)

    def drop(self, key: Key) -> None:
        """Forget an object."""
        self._unplan(key)
        self._newest.pop(key, None)
        self._line.drop(key)

    def _unplan(self, key: Key) -> None:
        self._chosen.pop(key, None)
        planned = self._later.pop(key, None)
        if planned is not None:
            planned.cancel()

    def _work(self, keys: Sequence[Key]) -> list[Settled]:
        outcomes: dict[Key, Settled] = dict.fromkeys(keys, DONE)
        writes = [write for key in keys if (write := self._plan(key)) is not None]
        if writes:
            for write, refusal in zip(writes, self._client.write_many(writes), strict=True):
                outcomes[write.key] = self._judged(write.key, refusal)
        return list(outcomes.values())

    def _judged(self, key: Key, refusal: Exception | None) -> Settled:
        """Say what follows from an answer; whoever is done waits for the object's next change."""
        if isinstance(refusal, ApiError) and not isinstance(refusal, _FOR_NOW):
            refusal = None
        if refusal is not None:
            return refusal
        if key not in self._line.queue:
            self._newest.pop(key, None)
        return DONE

    def _plan(self, key: Key) -> Write | None:
        """Return what to write now for an object, if anything; what comes later is noted."""
        tree, matching = self._state(key)
        names = self._cast.names(tree) if matching else None
        if names is None:
            self.drop(key)
            return None
        scene = Scene(tree, names)
        stage = self._chosen.pop(key, None)
        if stage is not None:
            return self._write(key, stage, scene)
        stage = choose(matching, scene, self._draw)
        wait = stage.delay(scene, self._draw)
        if wait <= 0:
            return self._write(key, stage, scene)
        self._later[key] = self._loop.call_after(wait, partial(self._due, key, stage))
        return None

    def _due(self, key: Key, stage: Stage) -> None:
        """Play a stage whose time has come: the object has not changed since it was chosen."""
        del self._later[key]
        self._chosen[key] = stage
        self._line.add(key)

    def _state(self, key: Key) -> tuple[Tree, Sequence[Stage]]:
        """Return the newest state of an object, the caller's own, and the stages that match it."""
        if key not in self._newest:
            return {}, ()
        newest = self._newest[key]
        if newest is not None:
            return decode(newest[0]), newest[1]
        tree = self._client.get(self._cast.resource, key)
        return ({}, ()) if tree is None else (tree, self._matching(tree))

    def _matching(self, tree: Tree) -> Sequence[Stage]:
        return [stage for stage in self._stages if stage.matches(tree)]

    def _write(self, key: Key, stage: Stage, scene: Scene) -> Write:
        uid = scene.tree["metadata"].get("uid", "")
        if stage.delete:
            options: Tree = {"gracePeriodSeconds": 0}
            if uid:
                options["preconditions"] = {"uid": uid}
            return Write("delete", self._cast.resource, key, options)
        tree: Tree = scene.tree
        rendered = stage.status(scene) if stage.status is not None else {}
        tree["status"] = merged(tree.get("status") or {}, rendered)
        return Write("update_status", self._cast.resource, key, tree)


def merged(present: Tree, changes: Tree) -> Tree:
    """Lay ``changes`` over a status: maps are merged, of lists those whose items have a ``type``.

    Both are used up. This is what a strategic merge does with a status, at a tenth of its cost.
    """
    for field, value in changes.items():
        old = present.get(field)
        if isinstance(old, dict) and isinstance(value, dict):
            present[field] = merged(old, value)
        elif old and value and isinstance(value, list) and _typed(old) and _typed(value):
            fresh = {item["type"]: item for item in value}
            kept = [merged(item, fresh.pop(item["type"], {})) for item in old]
            present[field] = [*kept, *fresh.values()]
        else:
            present[field] = value
    return present


def _typed(items: Any) -> bool:
    return all(isinstance(item, dict) and "type" in item for item in items)
