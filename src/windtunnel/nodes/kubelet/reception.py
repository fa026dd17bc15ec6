"""The reception of pods: from what the API says of them to a worker each, or to a refusal.

A pod as it is now comes from two sides, the watch and the answers to our own writes, in any order;
the newer version holds. Nobody is received before all pods are known, for whether one fits depends
on the others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from windtunnel.client import Change
from windtunnel.errors import ClusterError
from windtunnel.machinery.errors import ApiError, NotFound
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.admission import forbid, judge
from windtunnel.nodes.kubelet.boot import must_wait
from windtunnel.nodes.kubelet.clearing import Clearing
from windtunnel.nodes.kubelet.devices.admission import Admitted, Rejected
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.pod_spec import (
    TERMINAL,
    asked,
    deleting,
    pod_key,
    uid_of,
    with_origin,
)
from windtunnel.nodes.kubelet.pods.worker import PodWorker
from windtunnel.nodes.kubelet.probes.prober import Prober
from windtunnel.nodes.kubelet.runtime.protocol import ContainerState
from windtunnel.nodes.kubelet.status.pod_status import rejected_status
from windtunnel.nodes.kubelet.status.writer import StatusWriter

_HOUSEKEEPING_SECONDS: Final = 0.6
"""After which time a kubelet has looked at what runs; a real one needs up to 2 s."""


class Reception:
    """The pods of one node.

    Args:
        ground: What their workers stand on.
        node: The node as the API has it; None before it is there.
        app_armor: Whether the machine has AppArmor.
    """

    def __init__(
        self, ground: Ground, node: Callable[[], Tree | None], *, app_armor: bool = False
    ) -> None:
        self._ground, self._node, self._app_armor = ground, node, app_armor
        self._writer = StatusWriter(ground.client, ground.loop, self._written)
        self._prober = Prober(
            ground.loop,
            ground.outside,
            ground.runtime,
            ground.events,
            ground.address_of,
            self.look_at,
            ground.draw,
        )
        self._clearing = Clearing(ground, self._prober)
        self._pods: dict[str, Tree] = {}
        self._uids: dict[Key, str] = {}
        self._workers: dict[str, PodWorker] = {}
        self._rejected: set[str] = set()
        self._awaiting: set[str] = set()
        """Pods that wait for devices, for as long as the node is just being switched on."""
        self._running = False
        self._complete = False
        self._begun = False
        self._started_at = 0.0

    def start(self) -> None:
        """Take in pods from now on."""
        self._running = True
        self._started_at = self._ground.clock.now()

    def stop(self) -> None:
        """Look at nothing any more; containers go on."""
        self._running = False
        for worker in self._workers.values():
            worker.stop()
        self._prober.stop()
        self._writer.stop()

    def begin(self) -> None:
        """Receive the pods, after what an earlier node has left of others is removed."""
        self._clearing.unmount_others(self._pods, self._receive_all)

    def pods(self) -> list[Tree]:
        """Return the pods of the node with their present status; from any thread."""
        return list(self._pods.values())

    def uid(self, key: Key) -> str | None:
        """Return which pod has this name now; from any thread."""
        return self._uids.get(key)

    def active(self) -> list[Tree] | None:
        """Return the pods whose devices are theirs; None while not all pods are known."""
        if not self._complete:
            return None
        return [
            pod
            for uid, pod in self._pods.items()
            if uid not in self._rejected
            and ((worker := self._workers.get(uid)) is None or worker.active)
            and self._uids.get(pod_key(pod)) == uid
            and (dig(pod, "status", "phase") not in TERMINAL)
        ]

    def changed(self, change: Change) -> None:
        """Take in what the watch tells of pods."""
        if change.type == "SYNCED":
            self._complete = True
            return
        told = change.tree()
        uid = uid_of(told)
        if change.type == "DELETED":
            self._gone(uid, told)
            return
        known = self._uids.get(change.key)
        if known is not None and known != uid:
            self._gone(known, self._pods[known])
        pod = self._take(told)
        if pod is None:
            return
        self._uids[change.key] = uid
        worker = self._workers.get(uid)
        if worker is not None:
            worker.update(pod)
        elif known != uid and self._begun:
            self._soon(self._admit, pod)
        elif uid in self._awaiting:
            self._ground.loop.call_soon(self._admit_awaiting)
        elif uid in self._rejected:
            self._soon(self._let_go, pod)

    def devices_changed(self, uids: frozenset[str]) -> None:
        """Take note that devices have come or gone, or that those of some pods have changed."""
        if self._awaiting:
            self._ground.loop.call_soon(self._admit_awaiting)
        for uid in sorted(uids):
            self.look_at(uid)

    def look_at(self, uid: str) -> None:
        """Let a pod's worker look at it."""
        worker = self._workers.get(uid)
        if worker is not None and self._running:
            worker.visit()

    def notice(self, uid: str) -> None:
        """Let a pod's worker know that a container of it has changed."""
        worker = self._workers.get(uid)
        if worker is not None and self._running:
            worker.notice()

    def _receive_all(self) -> None:
        if not self._running:
            return
        self._begun = True
        self._clearing.stop_others(self._pods)
        for pod in self.pods():
            self._admit(pod)

    @property
    def _booted_at(self) -> float:
        """When devices that have not come by then are taken to be gone."""
        return self._started_at + self._ground.settings.boot_patience_seconds

    def _admit_awaiting(self) -> None:
        """Look again at who waits for devices."""
        uids, self._awaiting = self._awaiting, set()
        for uid in uids:
            pod = self._pods.get(uid)
            if pod is not None and self._running:
                self._admit(pod)

    def _take(self, pod: Tree) -> Tree | None:
        """Keep a pod as it is now; None where something newer is known already."""
        uid = uid_of(pod)
        known = self._pods.get(uid)
        if known is not None and _version(known) >= _version(pod):
            return None
        taken = self._pods[uid] = with_origin(pod, known, self._ground.clock.now())
        return taken

    def _written(self, pod: Tree) -> None:
        """Take a pod as the API has it after a write of ours.

        What others asked of it just before comes with it, a deletion above all: the watch tells
        that too, but later, when it is nothing newer any more.
        """
        uid = uid_of(pod)
        known = self._pods.get(uid)
        taken = self._take(pod)
        if taken is None:
            return
        pod = taken
        worker = self._workers.get(uid)
        if worker is not None:
            worker.pod = pod
        if known is not None and asked(known) != asked(pod):
            self._soon(self._heed, pod)

    def _heed(self, pod: Tree) -> None:
        """Look at a pod of which something else is asked than before."""
        uid = uid_of(pod)
        if uid in self._rejected:
            self._let_go(pod)
        else:
            self.look_at(uid)

    def _gone(self, uid: str, pod: Tree) -> None:
        if uid not in self._pods:
            return
        self._pods[uid] = pod
        if self._uids.get(pod_key(pod)) == uid:
            del self._uids[pod_key(pod)]
        self._rejected.discard(uid)
        self._awaiting.discard(uid)
        self._writer.forget(uid)
        worker = self._workers.get(uid)
        if worker is None:
            self._forget(uid)
        else:
            worker.pod = pod
            worker.removed()

    def _soon(self, step: Callable[[Tree], None], pod: Tree) -> None:
        """Do what writes outside of the delivery of a change."""
        self._ground.loop.call_soon(lambda: step(pod) if self._running else None)

    def _admit(self, pod: Tree) -> None:
        """Ask whether a pod may run here; one that has ended, or is to, is only put in order."""
        uid = uid_of(pod)
        if dig(pod, "status", "phase") in TERMINAL or deleting(pod):
            self._employ(pod)
            return
        refusal = forbid(pod)
        if refusal is not None:
            self._reject(pod, refusal)
            return
        devices = self._ground.devices
        if self._ground.clock.now() < self._booted_at:
            figures = devices.figures()
            if must_wait(pod, figures.capacity, figures.allocatable):
                if not self._awaiting:
                    self._ground.loop.call_at(self._booted_at, self._admit_awaiting)
                self._awaiting.add(uid)
                return
        names = frozenset(
            each.name
            for each in self._ground.runtime.containers()
            if each.pod_uid == uid and each.state is ContainerState.RUNNING
        )
        devices.admit(pod, partial(self._judged, uid), running=names)

    def _judged(self, uid: str, verdict: Admitted | Rejected) -> None:
        """Take what the devices say, and say whether the rest fits."""
        pod = self._pods.get(uid)
        if pod is None or not self._running or uid in self._workers:
            return
        refusal = verdict if isinstance(verdict, Rejected) else None
        node = self._node()
        if refusal is None and node is not None:
            others = [each for each in self.active() or () if uid_of(each) in self._workers]
            held = self._ground.devices.in_use()
            refusal = judge(pod, node, others, held, app_armor=self._app_armor)
        if refusal is None:
            self._employ(pod)
        else:
            self._reject(pod, refusal)

    def _reject(self, pod: Tree, refusal: Rejected) -> None:
        """Say that a pod may not run here, and stop what an earlier node has run of it."""
        uid = uid_of(pod)
        self._ground.events.warning(pod, refusal.reason, refusal.message)
        now = self._ground.clock.now()
        status = rejected_status(pod, refusal.reason, refusal.message, now)
        has_run = any(each.pod_uid == uid for each in self._ground.runtime.containers())
        ready = self._started_at + _HOUSEKEEPING_SECONDS
        if now >= ready and not has_run:
            self._rejected.add(uid)
            self._writer.write(pod, status)
            return
        # Until it has looked at what runs, a kubelet does not say that a pod has ended.
        held = {key: each for key, each in status.items() if key not in ("reason", "message")}
        phase = dig(pod, "status", "phase") or "Pending"
        self._writer.write(pod, {**held, "phase": phase})
        if has_run:
            self._employ(self._pods[uid], verdict=(status["reason"], status["message"]))
            return
        self._rejected.add(uid)
        self._ground.loop.call_at(ready, lambda: self._tell_rejected(uid, status))

    def _tell_rejected(self, uid: str, status: Tree) -> None:
        pod = self._pods.get(uid)
        if pod is not None and self._running:
            self._writer.write(pod, status)

    def _employ(self, pod: Tree, verdict: tuple[str, str] | None = None) -> None:
        worker = PodWorker(
            self._ground, pod, self._prober, self._writer, self._forget, verdict=verdict
        )
        self._workers[uid_of(pod)] = worker
        worker.visit()

    def _let_go(self, pod: Tree) -> None:
        """Let the API forget a rejected pod that was deleted."""
        if deleting(pod):
            try:
                self._ground.client.delete("pods", pod_key(pod), uid=uid_of(pod), grace_seconds=0)
            except NotFound:
                return
            except (ApiError, ClusterError) as error:
                self._ground.loop.report("kubelet", pod_key(pod), error)

    def _forget(self, uid: str) -> None:
        self._pods.pop(uid, None)
        self._workers.pop(uid, None)
        self._clearing.forget(uid)


def _version(pod: Tree) -> int:
    return int(pod["metadata"].get("resourceVersion") or 0)
