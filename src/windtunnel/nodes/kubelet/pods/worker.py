"""The worker of one pod: reads, decides, lets act, and tells the API what came of it.

A visit starts from nothing but the pod's object and the runtime's records, so a worker that is made
anew goes on where the last one stood. A visit writes the status first and acts then: what an action
came to is told by the next visit, which the runtime's news bring about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from windtunnel.errors import BrokenInvariant, ClusterError
from windtunnel.kernel import Ticket
from windtunnel.machinery.errors import ApiError, NotFound
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.outside import Cancelled, Course, Followed
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.pod_spec import (
    TERMINAL,
    apps,
    container_of,
    containers,
    deadline,
    deleting,
    pod_key,
    same_image,
    start_time,
    uid_of,
)
from windtunnel.nodes.kubelet.pods.acting import Doer, Memory
from windtunnel.nodes.kubelet.pods.failures import MountRefused, StartRefused
from windtunnel.nodes.kubelet.pods.images import ImageProvider
from windtunnel.nodes.kubelet.pods.plan import Facts, plan
from windtunnel.nodes.kubelet.pods.stopping import stop_all
from windtunnel.nodes.kubelet.probes.prober import Prober
from windtunnel.nodes.kubelet.runtime.protocol import UNSEEN, ContainerRecord, ContainerState
from windtunnel.nodes.kubelet.status.containers import Evidence, container_statuses
from windtunnel.nodes.kubelet.status.pod_status import Situation, coming_phase, pod_status
from windtunnel.nodes.kubelet.status.writer import StatusWriter

_SETTLING_SECONDS: Final = 0.5
"""Between the end of a pod's last container and the last word on it, as long as the real node takes
to find that nothing is left; whoever waits for its devices may have them meanwhile."""
_RELIST_SECONDS: Final = 1.0
"""How often a real kubelet looks through its containers."""
_JITTER: Final = 0.5
_BACKOFF_JITTER: Final = 0.05
"""Of a back-off's length. A real kubelet draws up to half of it on top, for many pods' sake."""
_START_FAILED: Final = "StartError"
_EXCEEDED: Final = (
    "DeadlineExceeded",
    "Pod was active on the node longer than the specified deadline",
)


class Progress(Enum):
    """How far a pod has come on this node."""

    RUNNING = "is to run"
    ENDING = "is being stopped"
    SETTLING = "has stopped"
    OVER = "nothing is left to do"


class PodWorker:
    """Carries one admitted pod through its life."""

    def __init__(
        self,
        ground: Ground,
        pod: Tree,
        prober: Prober,
        writer: StatusWriter,
        done: Callable[[str], None],
        *,
        verdict: tuple[str, str] | None = None,
    ) -> None:
        """Make a worker; it begins with its first visit.

        Args:
            ground: What it stands on.
            pod: The pod.
            prober: Who asks the pod's probes.
            writer: Who writes its status.
            done: Told the pod's uid when nothing is left to do for it.
            verdict: (reason, message) of an end that the node has decided already.
        """
        self.pod = pod
        self.stage = Progress.RUNNING
        self.gone = False
        """Whether the API knows the pod no longer."""
        self._ground, self._prober, self._writer, self._done = ground, prober, writer, done
        self._memory = Memory(ImageProvider(ground))
        self._doer = Doer(ground, self._memory)
        self._verdict = verdict
        self._acting: Followed | None = None
        self._again = False
        self._seen: dict[str, ContainerState] = {}
        """How the pod's containers were at the last look."""
        self._behind = False
        """Whether a look is still to come from when the sandbox was made. A real kubelet, too, is
        told of the sandbox while it starts the first container, and looks once more for it when it
        next looks through its containers; where each time another one has ended by then, the look
        is carried on, so that a back-off is told a moment after it was begun."""
        self._owes_look = False
        self._ticket: Ticket | None = None
        self._deadline: Ticket | None = None
        self._restarting = False
        self._stopped = False
        sandbox = ground.sandboxes.standing(uid_of(pod))
        if sandbox is not None:
            self._memory.address = sandbox.address

    def update(self, pod: Tree) -> None:
        """Take a newer version of the pod."""
        self.pod = pod
        self.visit()

    def removed(self) -> None:
        """Take note that the API has the pod no longer."""
        self.gone = True
        self.visit()

    def stop(self) -> None:
        """Do nothing more; containers go on."""
        self._stopped = True
        for ticket in (self._ticket, self._deadline):
            if ticket is not None:
                ticket.cancel()
        if self._acting is not None:
            self._acting.cancel()

    @property
    def active(self) -> bool:
        """Whether what the pod was given is still its own."""
        return self.stage in (Progress.RUNNING, Progress.ENDING)

    def visit(self) -> None:
        """Look at the pod soon: now, or when what is being done has been done."""
        if self._stopped:
            return
        if self._acting is not None:
            self._again = True
            if self.stage is Progress.RUNNING and self._is_to_end():
                self._acting.cancel()
            return
        if self.stage in (Progress.RUNNING, Progress.OVER):
            self._later(0.0, self._look)

    def notice(self) -> None:
        """Look at the pod if its containers are not as they were seen last."""
        if self._acting is None and self.stage is Progress.RUNNING and self._has_news():
            self.visit()

    def _has_news(self) -> bool:
        present = _states(self._records())
        return any(self._seen.get(each) is not state for each, state in present.items())

    def _has_just_ended(self, record: ContainerRecord) -> bool:
        """Say whether a run that had begun has ended by itself since the last look."""
        return (
            record.state is ContainerState.EXITED
            and record.reason != _START_FAILED
            and record.id not in self._ground.stopped
            and self._seen.get(record.id) is not ContainerState.EXITED
        )

    def _later(self, seconds: float, step: Callable[[], None]) -> None:
        """Play a step once; whatever was to come before it is taken back."""
        if self._ticket is not None:
            self._ticket.cancel()
        self._ticket = self._ground.loop.call_after(seconds, lambda: self._play(step))

    def _play(self, step: Callable[[], None]) -> None:
        """Play a step; one pod that cannot be served must not take the node with it."""
        try:
            step()
        except BrokenInvariant:
            raise
        except Exception as error:
            self._ground.loop.report("kubelet", pod_key(self.pod), error)
            self._later(self._ground.settings.retry_seconds, step)

    def _look(self) -> None:
        if self._stopped or self._acting is not None:
            return
        if self.stage is Progress.RUNNING:
            self._run()
        elif self.stage is Progress.OVER:
            self._leave()

    def _is_to_end(self) -> bool:
        phase = (self.pod.get("status") or {}).get("phase")
        return self.gone or deleting(self.pod) or phase in TERMINAL or self._verdict is not None

    def _run(self) -> None:
        if self._is_to_end():
            self._end()
            return
        self._watch_deadline()
        self._prober.keep(self.pod)
        # Told and decided from one look at the runtime, which goes on meanwhile.
        records = self._records()
        ended = [each for each in records.all() if self._has_just_ended(each)]
        if any(each.finished_at - each.started_at >= _RELIST_SECONDS for each in ended):
            self._behind = False
        self._owes_look = self._behind and bool(ended)
        self._seen = _states(records)
        if self._tell(records) in TERMINAL:
            self._end()
            return
        decided = plan(self.pod, self._facts(self._active(records)))
        self._behind = self._behind or decided.sandbox
        self._restarting = decided.anew
        if decided.anew:
            self._tell(records)
        attempts = {
            each["name"]: self._attempt(each["name"], records) for each in containers(self.pod)
        }
        course = self._doer.act(self.pod, decided, records, attempts)
        self._follow(course, self._acted)

    def _follow(self, course: Course[Any], then: Callable[[Any], None]) -> None:
        def ended(outcome: Any) -> None:
            self._acting = None
            if not self._stopped:
                then(outcome)

        self._acting = followed = Followed(self._ground.outside, course, ended)
        followed.resume(None)  # it may have ended when this returns

    def _acted(self, outcome: list[StartRefused] | Exception) -> None:
        refused: list[StartRefused] = []
        if isinstance(outcome, list):
            refused = outcome
        elif not isinstance(outcome, (Cancelled, MountRefused)):
            self._ground.loop.report("kubelet", pod_key(self.pod), outcome)
        if self._memory.news:
            self._memory.news, self._again = False, True
        if self._again or self._has_news() or isinstance(outcome, Cancelled):
            self._again = False
            self._later(0.0, self._look)
            return
        self._later(self._next(outcome, refused), self._look)

    def _next(self, outcome: object, refused: list[StartRefused]) -> float:
        """Return after how many seconds the pod is looked at again."""
        settings = self._ground.settings
        if isinstance(outcome, MountRefused):
            return outcome.again_in
        seconds, jitter = settings.sync_seconds, _JITTER
        waits = [each.again_in for each in refused if each.again_in is not None]
        if isinstance(outcome, Exception) or len(waits) < len(refused):
            seconds = settings.retry_seconds
        elif waits:
            seconds, jitter = min(waits), _BACKOFF_JITTER
            if self._owes_look:
                self._behind = False
                return min(seconds, _RELIST_SECONDS)
        return seconds * (1 + jitter * self._ground.draw())

    def _watch_deadline(self) -> None:
        when = deadline(self.pod, start_time(self.pod))
        if when is None:
            return
        left = when - self._ground.clock.now()
        if left <= 0:
            self._exceed()
        elif self._deadline is None or not self._deadline.pending:
            self._deadline = self._ground.loop.call_after(left, self._exceed)

    def _exceed(self) -> None:
        if self._verdict is None and self.stage is Progress.RUNNING:
            self._verdict = _EXCEEDED
            self._ground.events.normal(self.pod, *_EXCEEDED)
            self.visit()

    def _records(self) -> PodRecords:
        """Return what is known of the pod's containers; an end is noticed a little later.

        A real kubelet looks through its containers once a second, so a run is told before its end
        is, however short it was.
        """
        uid = uid_of(self.pod)
        noticed = float("inf")
        if self.stage in (Progress.RUNNING, Progress.ENDING):
            noticed = self._ground.clock.now() - self._ground.settings.relist_seconds
        stopped = self._ground.stopped
        return PodRecords.of(
            _still_running(each) if each.finished_at > noticed and each.id not in stopped else each
            for each in self._ground.runtime.containers()
            if each.pod_uid == uid
        )

    def _active(self, records: PodRecords) -> PodRecords:
        sandbox = self._ground.sandboxes.get(uid_of(self.pod))
        return records.since(sandbox.created_at if sandbox is not None else float("inf"))

    def _facts(self, active: PodRecords) -> Facts:
        running = active.running()
        changed = {
            each.name
            for each in running
            if (container := container_of(self.pod, each.name)) is not None
            and not same_image(each.image, str(container.get("image") or ""))
        }
        return Facts(
            records=active,
            sandbox=self._ground.sandboxes.standing(uid_of(self.pod)) is not None,
            unhealthy=self._prober.unhealthy(uid_of(self.pod), running),
            changed=changed,
            started={each.name for each in running if self._prober.started(each)},
        )

    def _attempt(self, name: str, records: PodRecords) -> int:
        """Return which run of a container would be the next."""
        record = records.current(name)
        if record is not None:
            return record.attempt + 1
        told = self._statuses(records)[name]
        return int(told.get("restartCount") or 0) + ("terminated" in told["state"])

    def _statuses(self, records: PodRecords) -> dict[str, Tree]:
        uid = uid_of(self.pod)
        return container_statuses(
            self.pod,
            Evidence(
                records=records,
                active=self._active(records),
                troubles=self._memory.troubles,
                ready=self._prober.ready,
                started=self._prober.started,
                health=lambda name: self._ground.devices.health(uid, name),
                last_words=self._last_words,
            ),
        )

    def _last_words(self, record: ContainerRecord) -> str:
        container = container_of(self.pod, record.name) or {}
        return self._ground.files.last_words(container, record)

    def _tell(self, records: PodRecords, *, ended: bool = False, gone: bool = False) -> str:
        """Write the status; return the phase that the pod is in, told or not."""
        if self.gone:
            return "Failed"
        statuses = self._statuses(records)
        active = self._active(records)
        shown = any(
            "containerID" in each or "waiting" not in each["state"] for each in statuses.values()
        )
        situation = Situation(
            now=self._ground.clock.now(),
            node_address=self._ground.settings.address,
            address=self._shown_address(shown=shown or bool(self._memory.troubles)),
            sandbox=self._ground.sandboxes.standing(uid_of(self.pod)) is not None,
            begun=any(_has_run(active.current(each["name"])) for each in apps(self.pod)),
            ended=ended,
            gone=gone,
            verdict=self._verdict,
            restarting=self._restarting,
        )
        phase = coming_phase(self.pod, statuses, situation)
        self._writer.write(self.pod, pod_status(self.pod, statuses, situation))
        return phase

    def _shown_address(self, *, shown: bool) -> str:
        """Return the pod's address; it is told with its first container, a node's own at once."""
        if self.pod["spec"].get("hostNetwork"):
            return self._memory.address or self._ground.settings.address
        return self._memory.address if shown else ""

    def _end(self) -> None:
        self.stage = Progress.ENDING
        uid = uid_of(self.pod)
        self._prober.leave(uid, but_readiness=True)
        records = self._records()
        self._tell(records)
        course = stop_all(self._ground, self.pod, records.running())
        self._follow(course, self._has_stopped)

    def _has_stopped(self, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._ground.loop.report("kubelet", pod_key(self.pod), outcome)
            self._later(self._ground.settings.retry_seconds, self._end)
            return
        self.stage = Progress.SETTLING
        self._ground.sandboxes.stop(uid_of(self.pod))
        self._tell(self._records(), ended=True)
        self._later(_SETTLING_SECONDS, self._settle)

    def _settle(self) -> None:
        uid = uid_of(self.pod)
        self._prober.leave(uid)
        self._ground.outside.call(lambda: self._ground.volumes.unmount(uid))
        self._memory.mounted = False
        self._tell(self._records(), ended=True, gone=True)
        self.stage = Progress.OVER
        self._leave()

    def _leave(self) -> None:
        """Let the API forget a pod that was deleted; forget it here when the API has."""
        uid = uid_of(self.pod)
        if self.gone:
            self.stop()
            self._done(uid)
        elif deleting(self.pod):
            try:
                self._ground.client.delete("pods", pod_key(self.pod), uid=uid, grace_seconds=0)
            except NotFound:
                self.removed()
            except (ApiError, ClusterError) as error:
                self._ground.loop.report("kubelet", pod_key(self.pod), error)
                self._later(1.0, self._look)


def _states(records: PodRecords) -> dict[str, ContainerState]:
    return {each.id: each.state for each in records.all()}


def _has_run(record: ContainerRecord | None) -> bool:
    return record is not None and record.reason != _START_FAILED


def _still_running(record: ContainerRecord) -> ContainerRecord:
    if record.state is not ContainerState.EXITED or record.reason in (_START_FAILED, UNSEEN):
        return record
    return replace(record, state=ContainerState.RUNNING)
