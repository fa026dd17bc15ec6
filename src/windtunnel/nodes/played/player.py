"""The player: takes objects as they change and plays their stages, many in one step.

An object's newest body waits in line; a newer one replaces it and takes back a stage that was still
to come. What the API server refuses is dropped until the object's next change, unless the refusal
was only for now; a refusal because the object has changed means that the change is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from windtunnel.client import Client, Write
from windtunnel.kernel import Loop, Parked, Ticket
from windtunnel.kernel.loop import NORMAL
from windtunnel.machinery.errors import ServiceUnavailable, Timeout, TooManyRequests
from windtunnel.machinery.tree import Key, Tree, decode
from windtunnel.nodes.played.language import Scene
from windtunnel.nodes.played.stages import Stage, choose

AT_ONCE: Final = 1
"""Objects a step: others hear of each before the next, as from a real kwok, whose pods become ready
one by one; a step more costs some microseconds only."""
_RETRY_SECONDS: Final = 1.0

Names = Mapping[str, Callable[[], Any]]


class Cast(Protocol):
    """What the player must be told about the objects of one resource."""

    resource: str

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
        self._line: dict[Key, bytes] = {}
        self._later: dict[Key, Ticket] = {}
        self._armed = False

    def take(self, key: Key, body: bytes) -> None:
        """Look at an object's new state soon; forget what was still planned for it."""
        planned = self._later.pop(key, None)
        if planned is not None:
            planned.cancel()
        self._line[key] = body
        self._arm()

    def drop(self, key: Key) -> None:
        """Forget an object."""
        self._line.pop(key, None)
        planned = self._later.pop(key, None)
        if planned is not None:
            planned.cancel()

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_soon(self._step, NORMAL)

    def _step(self) -> None:
        self._armed = False
        writes: list[Write] = []
        bodies: list[bytes] = []
        while self._line and len(writes) < AT_ONCE:
            key = next(iter(self._line))
            body = self._line.pop(key)
            write = self._plan(key, body)
            if write is not None:
                writes.append(write)
                bodies.append(body)
        if self._line:
            self._arm()
        self._send(writes, bodies)

    def _send(self, writes: list[Write], bodies: list[bytes]) -> None:
        if not writes:
            return
        outcomes = self._client.write_many(writes)
        for write, body, outcome in zip(writes, bodies, outcomes, strict=True):
            if isinstance(outcome, Parked):
                outcome.resume(self._again(write.key, body))
            elif isinstance(outcome, (TooManyRequests, ServiceUnavailable, Timeout)):
                self._loop.call_after(_RETRY_SECONDS, self._again(write.key, body))

    def _again(self, key: Key, body: bytes) -> Callable[[], None]:
        """Return a call that puts the object back in line, unless something newer stands there."""

        def put_back() -> None:
            if key not in self._line and key not in self._later:
                self.take(key, body)

        return put_back

    def _plan(self, key: Key, body: bytes) -> Write | None:
        tree: Tree = decode(body)
        scene = self._scene(tree)
        if scene is None:
            return None
        stage = choose(self._stages, scene, self._draw)
        if stage is None:
            return None
        wait = stage.delay(scene, self._draw)
        if wait > 0:
            self._later[key] = self._loop.call_after(wait, lambda: self._play(key, body, stage))
            return None
        return self._write(key, stage, scene)

    def _play(self, key: Key, body: bytes, stage: Stage) -> None:
        """Play a stage whose time has come: the object has not changed since it was chosen."""
        self._later.pop(key, None)
        scene = self._scene(decode(body))
        if scene is not None:
            self._send([self._write(key, stage, scene)], [body])

    def _scene(self, tree: Tree) -> Scene | None:
        names = self._cast.names(tree)
        return None if names is None else Scene(tree, names)

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
