"""The kubelet: the part that makes the pods of its node run.

It watches the pods that are bound to its node and gives each a worker of its own. All that it knows
comes from the API and from the runtime's records, so it may be stopped and made anew at any time:
containers go on meanwhile, and the new one goes on with them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from windtunnel.client import Change, Client
from windtunnel.client.events import Recorder
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.delays import Delays
from windtunnel.nodes.kubelet.environment import Lookup
from windtunnel.nodes.kubelet.events import PodEvents
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.node.conditions import ISOLATED, REACHABLE
from windtunnel.nodes.kubelet.node.figures import figures
from windtunnel.nodes.kubelet.node.machine import Machine
from windtunnel.nodes.kubelet.node.presence import Presence
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.pod_files import PodFiles
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.pod_spec import pod_key
from windtunnel.nodes.kubelet.reception import Reception
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
from windtunnel.nodes.kubelet.volumes.volumes import PodVolumes

if TYPE_CHECKING:  # it imports gRPC, which only who makes the devices has to
    from windtunnel.nodes.kubelet.devices.devices import Devices

_IMAGES_SHOWN: Final = 50
_NEEDED: Final = {"services", "pods"}
_PARTS: Final = 1 << 30
_NAMES_SECONDS: Final = 0.2
"""How long changes of names are gathered."""


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
        host_lines: From a namespace to what hosts files there say of services, from any
            thread; None: nothing.
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
        host_lines: Callable[[str], list[str]] | None = None,
        draw: Callable[[], float] = _draw,
    ) -> None:
        self._client, self._loop, self._settings = client, loop, settings
        self._devices, self._runtime, self._machine = devices, runtime, machine
        self._outside, self._reach = outside, reach or at_its_address
        recorder = Recorder(client, loop, "kubelet", settings.name)
        ground = Ground(
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
            files=PodFiles(settings.kubelet_root, host_lines),
        )
        self._files = ground.files
        self._renewing = False
        self._images: list[Tree] = []
        self._presence = Presence(
            client, loop, settings, machine, recorder, self._figures, lambda: self._images,
            lambda: devices.fresh,
        )  # fmt: skip
        self._reception = Reception(
            ground, lambda: self._presence.node, app_armor=machine.app_armor
        )
        self._services: dict[Key, Tree] = {}
        self._synced: set[str] = set()
        self._stops: list[Callable[[], None]] = []
        self._running = False

    def start(self) -> None:
        """Register the node, and make its pods run."""
        self._running = True
        self._reception.start()
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
        self._reception.stop()
        self._presence.stop()

    def pods(self) -> list[Tree]:
        """Return the pods of the node with their present status; from any thread."""
        return self._reception.pods()

    def find(self, namespace: str, pod: str, container: str) -> ContainerRecord | None:
        """Return the newest container of a pod by name; from any thread."""
        uid = self._reception.uid(Key(namespace, pod))
        records = (each for each in self._runtime.containers() if each.pod_uid == uid)
        return PodRecords.of(records).current(container)

    def allocatable(self) -> dict[str, str]:
        """Return what the node can give; from any thread."""
        return dict(dig(self._presence.node, "status", "allocatable") or {})

    def active(self) -> list[Tree] | None:
        """Return the pods whose devices are theirs; None while not all pods are known."""
        return self._reception.active()

    def services_changed(self) -> None:
        """Tell running containers, soon, that a name of a service answers elsewhere."""

        def renew() -> None:
            self._renewing = False
            if self._running:
                pods = self._reception.pods()
                self._outside.call(lambda: self._files.renew(pods))

        if not self._renewing:
            self._renewing = True
            self._loop.call_after(_NAMES_SECONDS, renew)

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

    def _pod_changed(self, change: Change) -> None:
        self._reception.changed(change)
        if change.type == "SYNCED":
            self._sync("pods")

    def _sync(self, what: str) -> None:
        """Begin with the pods when everything that they need is known."""
        self._synced.add(what)
        if self._synced == _NEEDED:
            self._reception.begin()

    def _devices_changed(self, uids: frozenset[str]) -> None:
        self._presence.changed()
        self._reception.devices_changed(uids)

    def _heard(self, record: ContainerRecord) -> None:
        """A container has changed."""
        if record.state is ContainerState.EXITED:
            late = self._settings.relist_seconds
            self._loop.call_after(late, partial(self._reception.notice, record.pod_uid))
        elif record.state is ContainerState.RUNNING:
            self._reception.notice(record.pod_uid)
        self._look_at_images()

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
