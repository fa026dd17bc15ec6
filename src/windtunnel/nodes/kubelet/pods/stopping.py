"""Stopping containers: the hook before the end, the order among them, and how long each may take.

Source: kubelet v1.36. The grace counts for the hook and the end together; sidecars wait until the
app containers have ended, the last one first; a container always has two seconds for its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.outside import Cancelled, Course, Inquiry
from windtunnel.nodes.kubelet.pod_spec import container_of, grace_seconds, inits, is_sidecar
from windtunnel.nodes.kubelet.pods.hooks import HookFailed, run_hook
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord

LEAST_SECONDS: Final = 2.0


class Turns:
    """Who has to have ended before a sidecar may be asked to end.

    Args:
        pod: The pod.
        names: The containers that run.
    """

    def __init__(self, pod: Tree, names: Iterable[str]) -> None:
        self._left = set(names)
        self._waiting: list[tuple[frozenset[str], Callable[[Any], None]]] = []
        sidecars = [each["name"] for each in inits(pod) if is_sidecar(each)]
        self._before: dict[str, frozenset[str]] = {}
        for place, name in enumerate(sidecars):
            later = set(sidecars[place + 1 :])
            self._before[name] = frozenset(
                each for each in self._left if each not in sidecars or each in later
            )

    def wait(self, name: str) -> Inquiry | None:
        """Return what to wait for before this container's turn; None when it has come."""
        before = self._before.get(name, frozenset())
        if not before & self._left:
            return None
        return Inquiry(lambda then: self._waiting.append((before, then)))

    def ended(self, name: str) -> None:
        """Note that a container has ended."""
        self._left.discard(name)
        due = [entry for entry in self._waiting if not entry[0] & self._left]
        self._waiting = [entry for entry in self._waiting if entry not in due]
        for _, then in due:
            then(None)

    def time_is_up(self) -> None:
        """Let everybody go on."""
        waiting, self._waiting = self._waiting, []
        for _, then in waiting:
            then(None)


def stop_container(
    ground: Ground,
    pod: Tree,
    record: ContainerRecord,
    message: str = "",
    *,
    grace: float | None = None,
    turns: Turns | None = None,
) -> Course[None]:
    """Stop a container; returns when it has ended.

    Args:
        ground: The node.
        pod: The pod.
        record: The container; of one whose spec is gone nothing is known but this.
        message: What the event says.
        grace: How many seconds it has; None for the pod's own.
        turns: Whom to wait for.
    """
    seconds = float(grace_seconds(pod)) if grace is None else grace
    begun = ground.clock.now()
    ground.events.normal(
        pod, "Killing", message or f"Stopping container {record.name}", record.name
    )
    container = container_of(pod, record.name)
    hook = dig(container, "lifecycle", "preStop")
    if hook is not None and container is not None:
        try:
            yield from run_hook(ground, pod, container, record.id, hook, seconds)
        except HookFailed:
            ground.events.warning(pod, "FailedPreStopHook", "PreStopHook failed", record.name)
    if turns is not None:
        turn = turns.wait(record.name)
        if turn is not None:
            left = seconds - (ground.clock.now() - begun)
            ticket = ground.loop.call_after(max(left, 0.0), turns.time_is_up)
            yield turn
            ticket.cancel()
    seconds = max(seconds - (ground.clock.now() - begun), LEAST_SECONDS)
    yield lambda: ground.runtime.stop(record.id, seconds)
    ground.stopped.add(record.id)
    if turns is not None:
        turns.ended(record.name)


def stop_all(ground: Ground, pod: Tree, records: Iterable[ContainerRecord]) -> Course[None]:
    """Stop containers of a pod, all at once but for the order among them."""
    running = list(records)
    turns = Turns(pod, (each.name for each in running))
    courses = [stop_container(ground, pod, each, turns=turns) for each in running]
    yield together(ground, courses)


def together(ground: Ground, courses: list[Course[None]]) -> Inquiry:
    """Return what plays several courses side by side and answers when all have ended."""

    def ask(then: Callable[[Any], None]) -> None:
        left = len(courses)
        failure: Exception | None = None
        if not left:
            ground.loop.call_soon(lambda: then(None))

        def ended(outcome: Any) -> None:
            nonlocal left, failure
            if isinstance(outcome, Exception) and not isinstance(outcome, Cancelled):
                failure = outcome
            left -= 1
            if not left:
                then(failure)

        for course in courses:
            ground.outside.follow(course, ended)

    return Inquiry(ask)
