"""The kubelet: the part that makes the pods of its node run.

It watches the pods that are bound to its node and gives each a worker of its own. All that it knows
comes from the API and from the runtime's records, so it may be stopped and made anew at any time:
containers go on meanwhile, and the new one goes on with them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from windtunnel.client import Change, Client
from windtunnel.client.events import Recorder
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop
from windtunnel.machinery.errors import ApiError, NotFound
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.admission import judge
from windtunnel.nodes.kubelet.boot import must_wait
from windtunnel.nodes.kubelet.delays import Delays
from windtunnel.nodes.kubelet.devices.admission import Admitted, Rejected
from windtunnel.nodes.kubelet.environment import Lookup
from windtunnel.nodes.kubelet.events import PodEvents
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.node.conditions import ISOLATED, REACHABLE
from windtunnel.nodes.kubelet.node.figures import figures
from windtunnel.nodes.kubelet.node.machine import Machine
from windtunnel.nodes.kubelet.node.presence import Presence
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.pod_files import PodFiles
from windtunnel.nodes.kubelet.pod_spec import TERMINAL, asked, deleting, pod_key, uid_of
from windtunnel.nodes.kubelet.pods.worker import PodWorker
from windtunnel.nodes.kubelet.probes.prober import Prober
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerRecord,
    ContainerState,
    ImageRecord,
    Isolation,
    Runtime,
)
from windtunnel.nodes.kubelet.sandboxes import Sandboxes
from windtunnel.nodes.kubelet.service_variables import Reach, at_its_address, service_variables
from windtunnel.nodes.kubelet.settings import Settings
from windtunnel.nodes.kubelet.status.pod_status import rejected_status
from windtunnel.nodes.kubelet.status.writer import StatusWriter
from windtunnel.nodes.kubelet.volumes.volumes import PodVolumes

if TYPE_CHECKING:  # it imports gRPC, which only who makes the devices has to
    from windtunnel.nodes.kubelet.devices.devices import Devices

_IMAGES_SHOWN: Final = 50
_ORPHAN_SECONDS: Final = 2.0
_HOUSEKEEPING_SECONDS: Final = 0.6
"""After which time a kubelet has looked at what runs; a real one needs up to 2 s."""
_NEEDED: Final = {"services", "pods"}
_PARTS: Final = 1 << 30


def _draw() -> float:
    return secrets.randbelow(_PARTS) / _PARTS


class Kubelet:
    """One node.

    Args:
        client: The API server.
        loop: Whose steps it takes.
        settings: The node.
        runtime: Its containers; outlives the kubelet, as ``sandboxes`` does.
        devices: Who gives devices to containers.
        volumes: Who provides volumes.
        sandboxes: The sandboxes of its pods.
        machine: The machine that it is on.
        outside: Threads for what blocks.
        reach: Where services answer; None: at their own address.
        host_lines: Lines on top for the hosts files of containers.
        draw: A number from 0 to 1, for the jitter of delays.
    """

    def __init__(
        self,
        client: Client,
        loop: Loop,
        settings: Settings,
        *,
        runtime: Runtime,
        devices: Devices,
        volumes: PodVolumes,
        sandboxes: Sandboxes,
        machine: Machine,
        outside: Outside,
        reach: Reach | None = None,
        host_lines: Callable[[], list[str]] = list,
        draw: Callable[[], float] = _draw,
    ) -> None:
        self._client, self._loop, self._settings = client, loop, settings
        self._devices, self._runtime, self._machine = devices, runtime, machine
        self._outside, self._reach = outside, reach or at_its_address
        recorder = Recorder(client, loop, "kubelet", settings.name)
        self._ground = Ground(
            client=client,
            loop=loop,
            outside=outside,
            runtime=runtime,
            devices=devices,
            volumes=volumes,
            sandboxes=sandboxes,
            settings=settings,
            events=PodEvents(recorder),
            crashes=Delays(settings.backoff_seconds, settings.max_backoff_seconds),
            pulls=Delays(settings.backoff_seconds, settings.max_backoff_seconds),
            draw=draw,
            lookup=self._lookup,
            host_lines=host_lines,
            files=PodFiles(settings.kubelet_root),
        )
        self._writer = StatusWriter(client, loop, self._written)
        self._prober = Prober(
            loop, outside, runtime, self._ground.events, self._address, self._poke, draw
        )
        self._images: list[Tree] = []
        self._presence = Presence(
            client, loop, settings, machine, recorder, self._figures, lambda: self._images,
            lambda: devices.fresh,
        )  # fmt: skip
        self._services: dict[Key, Tree] = {}
        self._pods: dict[str, Tree] = {}
        self._uids: dict[Key, str] = {}
        self._workers: dict[str, PodWorker] = {}
        self._rejected: set[str] = set()
        self._awaiting: set[str] = set()
        """Pods that wait for devices, for as long as the node is just being switched on."""
        self._synced: set[str] = set()
        self._stops: list[Callable[[], None]] = []
        self._running = False
        self._begun = False
        self._started_at = 0.0

    def start(self) -> None:
        """Register the node, and make its pods run."""
        self._running = True
        self._started_at = self._loop.clock.now()
        self._look_at_images(self._register)
        self._devices.listen(self._devices_changed)
        self._stops.append(
            self._runtime.listen(lambda record: self._loop.post(partial(self._heard, record)))
        )
        watch = self._client.watch
        name = self._settings.name
        self._stops.append(
            watch("nodes", self._node_changed, field_selector=f"metadata.name={name}")
        )
        self._stops.append(watch("services", self._service_changed))
        self._stops.append(watch("pods", self._pod_changed, field_selector=f"spec.nodeName={name}"))

    def stop(self) -> None:
        """Look at nothing any more; containers go on."""
        self._running = False
        for stop in self._stops:
            stop()
        self._stops.clear()
        for worker in self._workers.values():
            worker.stop()
        self._prober.stop()
        self._writer.stop()
        self._presence.stop()

    def pods(self) -> list[Tree]:
        """Return the pods of the node with their present status; from any thread."""
        return list(self._pods.values())

    def find(self, namespace: str, pod: str, container: str) -> ContainerRecord | None:
        """Return the newest container of a pod by name; from any thread."""
        uid = self._uids.get(Key(namespace, pod))
        found = [
            each
            for each in self._runtime.containers()
            if each.pod_uid == uid
            and each.name == container
            and each.state is not ContainerState.CREATED
        ]
        return max(found, key=lambda each: (each.attempt, each.created_at), default=None)

    def allocatable(self) -> dict[str, str]:
        """Return what the node can give; from any thread."""
        return dict(dig(self._presence.node, "status", "allocatable") or {})

    def active(self) -> list[Tree] | None:
        """Return the pods whose devices are theirs; None while not all pods are known."""
        if "pods" not in self._synced:
            return None
        return [
            pod
            for uid, pod in self._pods.items()
            if uid not in self._rejected
            and ((worker := self._workers.get(uid)) is None or worker.active)
            and (dig(pod, "status", "phase") not in TERMINAL)
        ]

    def _node_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        self._presence.seen(None if change.type == "DELETED" else change.tree())

    def _service_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._sync("services")
        elif change.type == "DELETED":
            self._services.pop(change.key, None)
        else:
            self._services[change.key] = change.tree()

    def _sync(self, what: str) -> None:
        """Begin with the pods when everything that they need is known.

        Before, what an earlier node has left of others is removed.
        """
        self._synced.add(what)
        if self._synced == _NEEDED:
            known = list(self._pods)
            self._outside.call(
                lambda: self._ground.volumes.unmount_others(known), lambda _: self._begin()
            )

    def _begin(self) -> None:
        if not self._running:
            return
        self._begun = True
        self._remove_orphans()
        for pod in list(self._pods.values()):
            self._admit(pod)

    @property
    def _booted_at(self) -> float:
        """When devices that have not come by then are taken to be gone."""
        return self._started_at + self._settings.boot_patience_seconds

    def _admit_awaiting(self) -> None:
        """Look again at who waits for devices."""
        uids, self._awaiting = self._awaiting, set()
        for uid in uids:
            pod = self._pods.get(uid)
            if pod is not None and self._running:
                self._admit(pod)

    def _pod_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._sync("pods")
            return
        pod = change.tree()
        uid = uid_of(pod)
        if change.type == "DELETED":
            self._gone(uid, pod)
            return
        known = self._uids.get(change.key)
        if known is not None and known != uid:
            self._gone(known, self._pods[known])
        if not self._take(pod):
            return
        self._uids[change.key] = uid
        worker = self._workers.get(uid)
        if worker is not None:
            worker.update(pod)
        elif known != uid and self._begun:
            self._soon(self._admit, pod)
        elif uid in self._awaiting:
            self._loop.call_soon(self._admit_awaiting)
        elif uid in self._rejected:
            self._soon(self._let_go, pod)

    def _take(self, pod: Tree) -> bool:
        """Keep a pod as it is now; False where something newer is known already."""
        uid = uid_of(pod)
        known = self._pods.get(uid)
        if known is not None and _version(known) >= _version(pod):
            return False
        self._pods[uid] = pod
        return True

    def _written(self, pod: Tree) -> None:
        """Take a pod as the API has it after a write of ours.

        What others asked of it just before comes with it, a deletion above all: the watch tells
        that too, but later, when it is nothing newer any more.
        """
        uid = uid_of(pod)
        known = self._pods.get(uid)
        if not self._take(pod):
            return
        worker = self._workers.get(uid)
        if worker is not None:
            worker.pod = pod
        if known is not None and asked(known) != asked(pod):
            self._soon(self._heed, pod)

    def _heed(self, pod: Tree) -> None:
        """Look at a pod of which something else is asked than before."""
        uid = uid_of(pod)
        worker = self._workers.get(uid)
        if worker is not None:
            worker.visit()
        elif uid in self._rejected:
            self._let_go(pod)

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
        self._loop.call_soon(lambda: step(pod) if self._running else None)

    def _admit(self, pod: Tree) -> None:
        """Ask whether a pod may run here; one that has ended, or is to, is only put in order."""
        uid = uid_of(pod)
        if dig(pod, "status", "phase") in TERMINAL or deleting(pod):
            self._employ(pod)
            return
        if self._loop.clock.now() < self._booted_at:
            figures = self._devices.figures()
            if must_wait(pod, figures.capacity, figures.allocatable):
                if not self._awaiting:
                    self._loop.call_at(self._booted_at, self._admit_awaiting)
                self._awaiting.add(uid)
                return
        names = frozenset(
            each.name
            for each in self._runtime.containers()
            if each.pod_uid == uid and each.state is ContainerState.RUNNING
        )
        self._devices.admit(pod, partial(self._judged, uid), running=names)

    def _judged(self, uid: str, verdict: Admitted | Rejected) -> None:
        """Take what the devices say, and say whether the rest fits."""
        pod = self._pods.get(uid)
        if pod is None or not self._running or uid in self._workers:
            return
        refusal = verdict if isinstance(verdict, Rejected) else None
        node = self._presence.node
        if refusal is None and node is not None:
            others = [each for each in self.active() or () if uid_of(each) in self._workers]
            refusal = judge(pod, node, others, self._devices.in_use())
        if refusal is None:
            self._employ(pod)
            return
        self._rejected.add(uid)
        self._ground.events.warning(pod, refusal.reason, refusal.message)
        now = self._loop.clock.now()
        status = rejected_status(pod, refusal.reason, refusal.message, now)
        ready = self._started_at + _HOUSEKEEPING_SECONDS
        if now >= ready:
            self._writer.write(pod, status)
            return
        # Until it has once looked at what runs, a kubelet does not say that a pod has ended.
        held = {key: each for key, each in status.items() if key not in ("reason", "message")}
        self._writer.write(pod, {**held, "phase": "Pending"})
        self._loop.call_at(ready, lambda: self._tell_rejected(uid, status))

    def _tell_rejected(self, uid: str, status: Tree) -> None:
        pod = self._pods.get(uid)
        if pod is not None and self._running:
            self._writer.write(pod, status)

    def _employ(self, pod: Tree) -> None:
        uid = uid_of(pod)
        worker = PodWorker(self._ground, pod, self._prober, self._writer, self._forget)
        self._workers[uid] = worker
        worker.visit()

    def _let_go(self, pod: Tree) -> None:
        """Let the API forget a rejected pod that was deleted."""
        if pod["metadata"].get("deletionTimestamp"):
            try:
                self._client.delete("pods", pod_key(pod), uid=uid_of(pod), grace_seconds=0)
            except NotFound:
                return
            except (ApiError, ClusterError) as error:
                self._loop.report("kubelet", pod_key(pod), error)

    def _forget(self, uid: str) -> None:
        """Remove every trace of a pod that is gone."""
        self._pods.pop(uid, None)
        self._workers.pop(uid, None)
        self._prober.leave(uid)
        self._ground.crashes.forget(uid)
        self._ground.pulls.forget(uid)
        self._ground.sandboxes.forget(uid)
        ids = [each.id for each in self._runtime.containers() if each.pod_uid == uid]
        for each in ids:
            self._prober.forget(each)
            self._ground.stopped.discard(each)
        self._outside.call(partial(self._remove, uid, ids))

    def _remove(self, uid: str, ids: Iterable[str]) -> None:
        """Remove containers and files of a pod; blocks."""
        for each in ids:
            self._runtime.remove(each)
        self._ground.volumes.unmount(uid)
        self._ground.files.remove(uid)

    def _remove_orphans(self) -> None:
        """Stop what runs of pods that went while nobody looked."""
        for uid in {each.pod_uid for each in self._runtime.containers()} - set(self._pods):
            ids = [each.id for each in self._runtime.containers() if each.pod_uid == uid]
            self._outside.call(partial(self._stop_orphans, uid, ids))

    def _stop_orphans(self, uid: str, ids: list[str]) -> None:
        for each in ids:
            self._runtime.stop(each, _ORPHAN_SECONDS)
        self._remove(uid, ids)

    def _heard(self, record: ContainerRecord) -> None:
        """A container has changed."""
        if record.state is ContainerState.EXITED:
            late = self._settings.relist_seconds
            self._loop.call_after(late, partial(self._poke, record.pod_uid))
        elif record.state is ContainerState.RUNNING:
            self._poke(record.pod_uid)
        self._look_at_images()

    def _poke(self, uid: str) -> None:
        worker = self._workers.get(uid)
        if worker is not None and self._running:
            worker.visit()

    def _devices_changed(self, uids: frozenset[str]) -> None:
        self._presence.changed()
        if self._awaiting:
            self._loop.call_soon(self._admit_awaiting)
        for uid in sorted(uids):
            self._poke(uid)

    def _address(self, uid: str) -> str:
        sandbox = self._ground.sandboxes.get(uid)
        return (sandbox.address if sandbox is not None else "") or self._settings.address

    def _figures(self) -> tuple[dict[str, str], dict[str, str]]:
        held = self._devices.figures()
        return figures(self._machine, self._settings, held.capacity, held.allocatable)

    def _register(self) -> None:
        """Tell of the node, and of what it cannot do as a real one."""
        if self._runtime.isolation is Isolation.NONE:
            self._presence.admit(ISOLATED, self._runtime.isolation_message)
        if self._devices.trouble:
            self._presence.admit(REACHABLE, self._devices.trouble)
        self._presence.start()

    def _look_at_images(self, then: Callable[[], None] = lambda: None) -> None:
        def take(outcome: list[ImageRecord] | Exception) -> None:
            if not isinstance(outcome, Exception):
                self._images = [
                    {"names": list(each.names), "sizeBytes": each.size_bytes}
                    for each in outcome[:_IMAGES_SHOWN]
                ]
            if self._running:
                then()

        self._outside.call(self._runtime.images, take)

    def _lookup(self, pod: Tree, address: str) -> Lookup:
        links = pod["spec"].get("enableServiceLinks")
        return Lookup(
            config_map=lambda namespace, name: self._client.get("configmaps", Key(namespace, name)),
            secret=lambda namespace, name: self._client.get("secrets", Key(namespace, name)),
            services=service_variables(
                self._services.values(),
                pod_key(pod).namespace,
                links=links is not False,
                reach=self._reach,
            ),
            node_address=self._settings.address,
            address=address,
            allocatable=self.allocatable(),
        )


def _version(pod: Tree) -> int:
    return int(pod["metadata"].get("resourceVersion") or 0)
