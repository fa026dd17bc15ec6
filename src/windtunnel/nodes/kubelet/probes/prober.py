"""Probing the containers of a node: when each is asked, and what its answers come to.

Source: kubelet v1.36. A probe is asked once a period, from the moment its pod is known; a readiness
probe also at once when its container has started. Until the startup probe has succeeded the others
are not asked. A probe that cannot be asked at all never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from windtunnel.kernel import Loop, Ticket
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.events import PodEvents
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.pod_spec import apps, inits, is_sidecar, uid_of
from windtunnel.nodes.kubelet.probes.actions import ask
from windtunnel.nodes.kubelet.probes.verdicts import INITIAL, Finding, Run
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerRecord,
    ContainerState,
    ExecFailed,
    Runtime,
)

KINDS: Final = ("startup", "readiness", "liveness")
_LOOK_SECONDS: Final = 0.5


@dataclass(slots=True)
class _Asker:
    """One probe of one container."""

    pod: Tree
    container: Tree
    kind: str
    probe: Tree
    container_id: str = ""
    run: Run = field(default_factory=Run)
    held: bool = False
    """The verdict is out, and the container's end is awaited."""
    asking: bool = False
    ticket: Ticket | None = None


class Prober:
    """Asks the probes of all pods, and remembers what they came to.

    Args:
        loop: Whose steps ask.
        outside: Where the asking is done.
        runtime: Whose containers are asked.
        events: Where failures are told.
        address: From a pod's uid to where it is reached.
        changed: Told the uid of a pod when a verdict on it has changed.
        draw: A number from 0 to 1: right after the start, probes do not all begin at once.
    """

    def __init__(
        self,
        loop: Loop,
        outside: Outside,
        runtime: Runtime,
        events: PodEvents,
        address: Callable[[str], str],
        changed: Callable[[str], None],
        draw: Callable[[], float],
    ) -> None:
        self._loop, self._outside, self._runtime = loop, outside, runtime
        self._events, self._address, self._changed = events, address, changed
        self._draw = draw
        self._begun = loop.clock.now()
        self._askers: dict[tuple[str, str, str], _Asker] = {}
        self._findings: dict[tuple[str, str], Finding] = {}
        self._unstarted: dict[str, float] = {}
        """Since when containers are known not to have started."""

    def keep(self, pod: Tree) -> None:
        """See to it that every probe of a pod is asked from now on."""
        uid = uid_of(pod)
        for container in [*(each for each in inits(pod) if is_sidecar(each)), *apps(pod)]:
            for kind in KINDS:
                probe = container.get(f"{kind}Probe")
                if probe is None:
                    continue
                key = (uid, container["name"], kind)
                known = self._askers.get(key)
                if known is not None:
                    known.pod = pod
                    continue
                asker = self._askers[key] = _Asker(pod, container, kind, probe)
                period = _seconds(probe, "periodSeconds", 10)
                late = self._loop.clock.now() - self._begun < period
                asker.ticket = self._loop.call_after(
                    self._draw() * period if late and self._was_running(asker) else 0.0,
                    lambda asker=asker: self._tick(asker),  # type: ignore[misc]
                )

    def leave(self, uid: str, *, but_readiness: bool = False) -> None:
        """Ask a pod's probes no longer."""
        for key in [key for key in self._askers if key[0] == uid]:
            if but_readiness and key[2] == "readiness":
                continue
            ticket = self._askers.pop(key).ticket
            if ticket is not None:
                ticket.cancel()

    def stop(self) -> None:
        """Ask nothing more."""
        for uid in {key[0] for key in self._askers}:
            self.leave(uid)

    def unhealthy(self, uid: str, running: Iterable[ContainerRecord]) -> dict[str, str]:
        """Return the running containers of a pod that have to be stopped, and by which probe."""
        found = {}
        for record in running:
            for kind in ("liveness", "startup"):
                if (uid, record.name, kind) not in self._askers:
                    continue
                if self._findings.get((record.id, kind)) is Finding.UNHEALTHY:
                    found[record.name] = kind
        return found

    def started(self, record: ContainerRecord) -> bool:
        """Say whether a running container has started.

        Before its startup probe has said anything about this run, what the API was told of the
        container's last one holds.
        """
        asker = self._askers.get((record.pod_uid, record.name, "startup"))
        finding = self._findings.get((record.id, "startup"))
        if finding is not None:
            return finding is Finding.HEALTHY
        return asker is None or _told(asker.pod, record.name, "started")

    def ready(self, record: ContainerRecord) -> bool:
        """Say whether a running container is ready.

        One that was ready and has to start anew is still ready for a moment: that it has not
        started is told first, that it is not ready with the next look.
        """
        asker = self._askers.get((record.pod_uid, record.name, "readiness"))
        finding = self._findings.get((record.id, "readiness"))
        if finding is not None:
            ready = finding is Finding.HEALTHY
        else:
            ready = asker is None or self._went_on(asker, record)
        if asker is not None and asker.container_id != record.id and not asker.asking:
            self._loop.call_soon(lambda: self._ask(asker))
        if ready and not self.started(record):
            since = self._unstarted.get(record.id, float("-inf"))
            startup = self._askers.get((record.pod_uid, record.name, "startup"))
            was_ready = startup is not None and self._went_on(startup, record)
            return was_ready and self._loop.clock.now() < since + _LOOK_SECONDS
        return ready

    def _went_on(self, asker: _Asker, record: ContainerRecord) -> bool:
        """Say whether the API was told that this run of a container is ready."""
        told = _status_of(asker.pod, record.name)
        if told.get("containerID") != f"containerd://{record.id}":
            return False
        return bool(told.get("ready"))

    def _was_running(self, asker: _Asker) -> bool:
        return bool(_status_of(asker.pod, asker.container["name"]).get("containerID"))

    def _tick(self, asker: _Asker) -> None:
        period = _seconds(asker.probe, "periodSeconds", 10)
        asker.ticket = self._loop.call_after(period, lambda: self._tick(asker))
        self._ask(asker)

    def _ask(self, asker: _Asker) -> None:
        """Inquiry, if there is anybody to be asked."""
        key = (uid_of(asker.pod), asker.container["name"], asker.kind)
        if asker.asking or self._askers.get(key) is not asker:
            return
        record = self._record(asker)
        if record is None:
            return
        if record.id != asker.container_id:
            asker.container_id, asker.held, asker.run = record.id, False, Run()
            initial = INITIAL[asker.kind]
            if not (asker.kind == "readiness" and self._went_on(asker, record)):
                self._find(asker, record, initial)
        if asker.held or not self._may_ask(asker, record):
            return
        asker.asking = True
        uid = uid_of(asker.pod)
        address = self._address(uid)
        self._outside.call(
            lambda: ask(asker.probe, asker.container, record.id, address, self._runtime),
            lambda outcome: self._take(asker, record, outcome),
        )

    def _may_ask(self, asker: _Asker, record: ContainerRecord) -> bool:
        started = self.started(record)
        if asker.kind == "startup":
            if started and self._findings.get((record.id, "startup")) is Finding.HEALTHY:
                return False
        elif not started:
            return False
        age = self._loop.clock.now() - int(record.started_at)
        return int(age) >= _seconds(asker.probe, "initialDelaySeconds", 0)

    def _record(self, asker: _Asker) -> ContainerRecord | None:
        uid, name = uid_of(asker.pod), asker.container["name"]
        for record in reversed(self._runtime.containers()):
            if record.pod_uid == uid and record.name == name:
                return record if record.state is ContainerState.RUNNING else None
        return None

    def _take(self, asker: _Asker, record: ContainerRecord, outcome: Any) -> None:
        """Take an answer, or that there is none."""
        asker.asking = False
        key = (uid_of(asker.pod), asker.container["name"], asker.kind)
        if self._askers.get(key) is not asker or record.id != asker.container_id:
            return
        name, word = asker.container["name"], asker.kind.capitalize()
        if isinstance(outcome, (ExecFailed, ValueError, OSError)):
            if self._record(asker) is not None:
                self._events.warning(
                    asker.pod,
                    "Unhealthy",
                    f"{word} probe errored and resulted in unknown state: {outcome}",
                    name,
                )
            return
        if isinstance(outcome, Exception):
            self._loop.report("probe", key, outcome)
            return
        if outcome.doubtful:
            self._events.warning(
                asker.pod, "ProbeWarning", f"{word} probe warning: {outcome.text}", name
            )
        if not outcome.healthy:
            self._events.warning(
                asker.pod, "Unhealthy", f"{word} probe failed: {outcome.text}", name
            )
        finding = asker.run.add(outcome.healthy, asker.probe)
        if finding is None:
            return
        if finding is Finding.UNHEALTHY and asker.kind != "readiness":
            asker.held, asker.run = True, Run()
        self._find(asker, record, finding)

    def _find(self, asker: _Asker, record: ContainerRecord, finding: Finding) -> None:
        key = (record.id, asker.kind)
        before = self._findings.get(key)
        if before is finding:
            return
        self._findings[key] = finding
        if finding is Finding.UNKNOWN:
            self._unstarted[record.id] = self._loop.clock.now()
            uid = record.pod_uid
            self._loop.call_after(_LOOK_SECONDS, lambda: self._changed(uid))
        if before is None and asker.kind != "startup" and finding is INITIAL[asker.kind]:
            return  # nobody thought otherwise
        self._changed(record.pod_uid)

    def forget(self, container_id: str) -> None:
        """Forget what was found of a container that is no more."""
        for kind in KINDS:
            self._findings.pop((container_id, kind), None)
        self._unstarted.pop(container_id, None)


def _seconds(probe: Tree, name: str, usual: int) -> int:
    value = probe.get(name)
    return usual if value is None else int(value)


def _status_of(pod: Tree, name: str) -> Tree:
    for key in ("containerStatuses", "initContainerStatuses"):
        for each in dig(pod, "status", key) or ():
            if each.get("name") == name:
                found: Tree = each
                return found
    return {}


def _told(pod: Tree, name: str, what: str) -> bool:
    return bool(_status_of(pod, name).get(what))
