"""DaemonSets: reads them, their pods and all nodes, and writes what ``plan`` decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import unless_zero, write_status
from windtunnel.controllers.daemonset.fit import (
    NEITHER,
    Needs,
    needs_of,
    node_of,
    pin,
    tolerations_of,
)
from windtunnel.controllers.daemonset.plan import (
    GENERATION,
    Daemon,
    Fits,
    Plan,
    count,
    populate,
    roll,
)
from windtunnel.controllers.daemonset.views import DaemonSetStatus, DaemonSetView
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.node.views import NodeView
from windtunnel.controllers.ownership import PodOwnership
from windtunnel.controllers.pods import (
    AT_ONCE,
    PodControl,
    namespace_is_going,
    next_available,
    patience,
    pod_from,
    slow_start,
)
from windtunnel.controllers.revisions import REVISION_HASH, History, Revisions
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, template_of
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "daemonsets.apps"
_BASE_SECONDS: Final = 1.0
_MAX_SECONDS: Final = 900.0
"""Between two replacements of failed pods on one node."""


@dataclass(slots=True)
class _Pause:
    """How long failed pods of one node are left alone, and since when."""

    seconds: float
    since: float


class DaemonSets:
    """Reconciles DaemonSets."""

    name = "daemonset-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._recorder = recorder
        self._expectations = Expectations(clock)
        self._ownership = PodOwnership(
            client, sources.pods, sources.daemon_sets, "apps/v1", "DaemonSet"
        )
        self._control = PodControl(client, recorder, self._expectations)
        self._revisions = Revisions(client, sources.revisions, "DaemonSet", REVISION_HASH)
        self._pauses: dict[Key, dict[tuple[int, str], _Pause]] = {}
        """By DaemonSet, then by (generation, node)."""
        self._needs: dict[Key, tuple[bytes, Needs]] = {}
        """What each template, kept beside it, asks of nodes."""

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a DaemonSet when it or a pod of it changes, and all when a node does."""

        def visit(key: Key) -> None:
            queue.add_after(key, patience(len(self._sources.nodes)))

        def set_changed(
            key: Key, before: DaemonSetView | None, after: DaemonSetView | None
        ) -> None:
            if after is None:
                self._expectations.forget(key)
                self._pauses.pop(key, None)
                self._needs.pop(key, None)
            if before is not None and after is not None and before.spec == after.spec:
                visit(key)  # mostly its own count, which need not bring the next one at once
            else:
                queue.add(key)

        def node_changed(key: Key, before: NodeView | None, after: NodeView | None) -> None:
            # A node that is gone changes nothing: its pods are left to the collector of pods.
            if after is None or (before is not None and _looks(before) == _looks(after)):
                return
            for name, view in self._sources.daemon_sets.entries():
                needs = self._needs_of(name, view)
                if needs.judge(after) != (needs.judge(before) if before else NEITHER):
                    visit(name)

        self._sources.daemon_sets.on_change(set_changed)
        self._sources.nodes.on_change(node_changed)
        self._sources.pod_owners.follow(self._ownership, self._expectations, visit)

    def reconcile(self, key: Key) -> Result:
        """Bring one DaemonSet in line."""
        view = self._sources.daemon_sets.get(key)
        if view is None or view.metadata.deleting:
            return DONE
        if not view.spec.selector.match_labels and not view.spec.selector.match_expressions:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self._recorder.warning(_subject(view), "SelectingAll", text)
            return DONE
        history = self._revisions.settle(
            view.metadata, view.spec.selector, view.spec.template, view.status.collision_count
        )
        now = self._clock.now()
        daemon = Daemon(view, history.present.metadata.labels.get(REVISION_HASH, ""), now)
        needs = self._needs_of(key, view)
        nodes = sorted(self._sources.nodes.entries())
        fits = {node_key.name: needs.judge(node) for node_key, node in nodes}
        pods = self._ownership.claim(view.metadata, view.spec.selector)
        failure, more = None, False
        wait = self._pause_left(key, daemon, pods)
        if self._expectations.met(key):
            failure, more = self._act(key, daemon, fits, pods)
            if failure is None and not more:
                self._trim(view, history, pods)
        status = count(daemon, fits, _by_node(pods), history.collisions)
        if status != view.status:
            write_status(self._client, RESOURCE, key, _status_tree(status))
        if failure is not None:
            raise failure
        if more:
            return Result(again_in=0.0)
        if view.spec.min_ready_seconds:
            wait = _sooner(wait, next_available(pods, view.spec.min_ready_seconds, now))
        return Result(wait)

    def _needs_of(self, key: Key, view: DaemonSetView) -> Needs:
        template = bytes(view.spec.template)
        known = self._needs.get(key)
        if known is None or known[0] != template:
            known = self._needs[key] = (template, needs_of(view.spec.template))
        return known[1]

    def _act(
        self, key: Key, daemon: Daemon, fits: Fits, pods: Sequence[PodView]
    ) -> tuple[Exception | None, bool]:
        """Make and delete pods; returns the first failure, and whether more is to be done."""
        by_node = _by_node(pods)
        plan = populate(daemon, fits, by_node, lambda node: self._may_kill(key, daemon, node))
        for node, pod in plan.ended:
            self._tell_ended(daemon.view, node, pod)
        if (
            not (plan.create or plan.delete)
            and daemon.view.spec.update_strategy.type == "RollingUpdate"
        ):
            plan = roll(daemon, fits, by_node)
        failure = self._write(key, daemon, plan)
        if failure is not None:
            return (None if namespace_is_going(failure) else failure), False
        return None, len(plan.create) > AT_ONCE or len(plan.delete) > AT_ONCE

    def _write(self, key: Key, daemon: Daemon, plan: Plan) -> Exception | None:
        subject, owner = _subject(daemon.view), self._ownership.reference(daemon.view.metadata)
        _, failure = slow_start(
            min(len(plan.create), AT_ONCE),
            lambda number: self._control.create(
                _pod(daemon, plan.create[number], owner), subject, key
            ),
        )
        for pod in plan.delete[:AT_ONCE]:
            refusal = self._control.delete(pod, subject, key)
            failure = failure or refusal
        return failure

    def _trim(self, view: DaemonSetView, history: History, pods: Sequence[PodView]) -> None:
        hashes = {pod.metadata.labels.get(REVISION_HASH, "") for pod in pods}
        live = {
            each.metadata.name
            for each in history.all
            if each.metadata.labels.get(REVISION_HASH, "") in hashes
        }
        live.add(history.present.metadata.name)
        self._revisions.trim(history, live, view.spec.revision_history_limit)

    def _may_kill(self, key: Key, daemon: Daemon, node: str) -> bool:
        """Whether a failed pod of this node may go now; if so the next one waits longer."""
        pauses = self._pauses.setdefault(key, {})
        place = (daemon.view.metadata.generation, node)
        pause = pauses.get(place)
        if pause is not None and daemon.now - pause.since < pause.seconds:
            return False
        seconds = _BASE_SECONDS
        if pause is not None and daemon.now - pause.since <= 2 * _MAX_SECONDS:
            seconds = min(pause.seconds * 2, _MAX_SECONDS)
        pauses[place] = _Pause(seconds, daemon.now)
        return True

    def _pause_left(self, key: Key, daemon: Daemon, pods: Sequence[PodView]) -> float | None:
        """Return when the next failed pod may go, or None."""
        pauses = self._pauses.get(key, {})
        waits = []
        for pod in pods:
            pause = pauses.get((daemon.view.metadata.generation, node_of(pod)))
            if pod.status.phase == "Failed" and not pod.metadata.deleting and pause is not None:
                waits.append(max(pause.since + pause.seconds - daemon.now, 0.0))
        return min((wait for wait in waits if wait > 0), default=None)

    def _tell_ended(self, view: DaemonSetView, node: str, pod: PodView) -> None:
        which = f"daemon pod {Key(pod.metadata.namespace, pod.metadata.name)} on node {node}"
        if pod.status.phase == "Failed":
            text = f"Found failed {which}, will try to kill it"
            self._recorder.warning(_subject(view), "FailedDaemonPod", text)
        else:
            text = f"Found succeeded {which}, will try to delete it"
            self._recorder.normal(_subject(view), "SucceededDaemonPod", text)


def _pod(daemon: Daemon, node: str, owner: Tree) -> Tree:
    """Return the pod for one node."""
    template = template_of(daemon.view.spec.template)
    metadata = template.setdefault("metadata", {})
    labels = {**(metadata.get("labels") or {}), REVISION_HASH: daemon.hash}
    if daemon.view.template_generation:
        labels[GENERATION] = daemon.view.template_generation
    metadata["labels"] = labels
    spec = template.setdefault("spec", {})
    spec["tolerations"] = tolerations_of(spec)
    pin(spec, node)
    view = daemon.view.metadata
    return pod_from(template, view.namespace, f"{view.name}-", owner)


def _by_node(pods: Iterable[PodView]) -> dict[str, list[PodView]]:
    found: dict[str, list[PodView]] = {}
    for pod in pods:
        found.setdefault(node_of(pod), []).append(pod)
    return found


def _looks(node: NodeView) -> object:
    """Return what of a node can decide whether a pod belongs there."""
    return node.metadata.labels, node.spec.taints, node.spec.unschedulable


def _sooner(one: float | None, other: float | None) -> float | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _status_tree(status: DaemonSetStatus) -> Tree:
    """Return the status as it is written: four counters are there even when zero."""
    return {
        "currentNumberScheduled": status.current_number_scheduled,
        "numberMisscheduled": status.number_misscheduled,
        "desiredNumberScheduled": status.desired_number_scheduled,
        "numberReady": status.number_ready,
        "observedGeneration": unless_zero(status.observed_generation),
        "updatedNumberScheduled": unless_zero(status.updated_number_scheduled),
        "numberAvailable": unless_zero(status.number_available),
        "numberUnavailable": unless_zero(status.number_unavailable),
        "collisionCount": status.collision_count,
    }


def _subject(view: DaemonSetView) -> Subject:
    metadata = view.metadata
    return Subject("DaemonSet", metadata.name, metadata.namespace, metadata.uid, "apps/v1")
