"""The node's presence in the API: its object is made, its status and its lease are kept fresh.

Every ten seconds the status is looked at and written where it has changed, at the latest after five
minutes; devices that come or go are told at once. The lease is renewed every ten seconds.

Source: kubelet v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop, Ticket
from windtunnel.machinery.errors import AlreadyExists, ApiError, NotFound
from windtunnel.machinery.timestamp import micro_time_text, parse_time, time_text
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.node import looks
from windtunnel.nodes.kubelet.node.conditions import FLAWS, node_conditions, same_conditions
from windtunnel.nodes.kubelet.node.machine import Machine
from windtunnel.nodes.kubelet.settings import Settings

_LEASE_NAMESPACE: Final = "kube-node-lease"
_LEASES: Final = "leases.coordination.k8s.io"
_REPORT_SECONDS: Final = 300.0
_RETRY_SECONDS: Final = 1.0
_GATHERING_SECONDS: Final = 0.5
"""A plugin registers its resources one after the other; they are told together."""
_OLD_CGROUPS: Final = (
    "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. "
    "Please migrate to cgroup v2. More information at "
    "https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1"
)
_PRESSURES: Final = ("NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID")


class Presence:
    """Keeps the node's object and its lease.

    Args:
        client: Where they live.
        loop: Whose steps keep them.
        settings: The node.
        machine: The machine it is.
        recorder: Where the node's events are told.
        figures: Returns capacity and allocatable.
        images: Returns ``status.images``.
        fresh: Whether figures of devices that an earlier node had do not hold any more.
    """

    def __init__(
        self,
        client: Client,
        loop: Loop,
        settings: Settings,
        machine: Machine,
        recorder: Recorder,
        figures: Callable[[], tuple[dict[str, str], dict[str, str]]],
        images: Callable[[], list[Tree]],
        fresh: Callable[[], bool] = lambda: False,
    ) -> None:
        self._client, self._loop = client, loop
        self._settings, self._machine, self._recorder = settings, machine, recorder
        self._figures, self._images, self._fresh = figures, images, fresh
        self._tickets: dict[str, Ticket] = {}
        self._stopped = True
        self._registered = False
        self.node: Tree | None = None
        """The node as the API has it."""
        self.trouble = ""
        """Why the node is not ready."""
        self._flaws: dict[str, str] = {}

    def start(self) -> None:
        """Register the node, and keep it from now on."""
        self._stopped = False
        self._tell("Normal", "Starting", "Starting kubelet.")
        if self._machine.old_cgroups:
            self._tell("Warning", "CgroupV1", _OLD_CGROUPS)
        self._tell("Warning", "InvalidDiskCapacity", "invalid capacity 0 on image filesystem")
        for reason in _PRESSURES:
            self._tell_status(reason)
        if self._settings.distribution == "k3s":
            self._tell(
                "Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods"
            )
        self._beat()

    def admit(self, flaw: str, message: str) -> None:
        """Tell of something that the node cannot do, by an Event and a condition of this type."""
        self._flaws[flaw] = message
        self._tell("Warning", FLAWS[flaw], message)

    def stop(self) -> None:
        """Keep it no longer."""
        self._stopped = True
        for ticket in self._tickets.values():
            ticket.cancel()

    def changed(self) -> None:
        """Write what has changed soon, not only at the next beat."""
        known = self._tickets.get("change")
        if self._registered and (known is None or not known.pending):
            self._later("change", _GATHERING_SECONDS, self._write_change)

    def seen(self, node: Tree | None) -> None:
        """Take the node as a watch has it; None where it was deleted."""
        self.node = node
        if node is None and self._registered and not self._stopped:
            self._registered = False
            self._later("beat", 0.0, self._beat)

    def _beat(self) -> None:
        try:
            if not self._registered:
                self._register()
            self._write()
            self._renew()
        except (ApiError, ClusterError) as error:
            self._loop.report("node", self._settings.name, error)
            self._later("beat", _RETRY_SECONDS, self._beat)
        else:
            self._later("beat", self._settings.status_seconds, self._beat)

    def _later(self, name: str, seconds: float, step: Callable[[], None]) -> None:
        known = self._tickets.get(name)
        if known is not None:
            known.cancel()
        if not self._stopped:
            self._tickets[name] = self._loop.call_after(seconds, step)

    def _register(self) -> None:
        """Create the node, or take over the one that is there."""
        settings, machine = self._settings, self._machine
        there = self._client.get("nodes", Key("", settings.name))
        marks = {
            "labels": looks.labels(settings, machine),
            "annotations": looks.marks(settings),
        }
        if there is None:
            node: Tree = {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": settings.name, **marks},
                "spec": looks.spec(settings),
                "status": self._status({}),
            }
            with suppress(AlreadyExists):
                self.node = self._client.create("nodes", node)
        else:
            self.node = self._client.patch("nodes", Key("", settings.name), {"metadata": marks})
            self._forget_devices(there)
        self._registered = True
        ready = any(
            each.get("type") == "Ready" and each.get("status") == "True"
            for each in dig(there, "status", "conditions") or ()
        )
        if not ready and not self.trouble:
            self._tell_status("NodeReady")

    def _forget_devices(self, there: Tree) -> None:
        """Say that a node without a record of its devices has none of those it had."""
        if not self._fresh():
            return
        gone = {
            name: "0"
            for name in dig(there, "status", "capacity") or {}
            if "/" in name and not name.startswith("attachable-volumes")
        }
        if gone:
            self._patch({"capacity": gone, "allocatable": gone})

    def _status(self, old: Tree) -> Tree:
        settings = self._settings
        capacity, allocatable = self._figures()
        now = time_text(self._loop.clock.now())
        status: Tree = {
            "addresses": [
                {"type": "InternalIP", "address": settings.address},
                {"type": "Hostname", "address": settings.name},
            ],
            "capacity": {**(old.get("capacity") or {}), **capacity},
            "allocatable": {**(old.get("allocatable") or {}), **allocatable},
            "conditions": node_conditions(
                old.get("conditions") or (), now, self.trouble, self._flaws
            ),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": settings.port}},
            "declaredFeatures": list(looks.FEATURES),
            "images": self._images(),
            "nodeInfo": looks.node_details(settings, self._machine),
        }
        runtimes = looks.runtimes(settings)
        if runtimes:
            status["runtimeHandlers"] = runtimes
            status["features"] = {"supplementalGroupsPolicy": True}
        return status

    def _write(self) -> None:
        """Patch the status where it says something else than the API."""
        if self.node is None:
            self.node = self._client.get("nodes", Key("", self._settings.name))
        if self.node is None:
            self._registered = False
            return
        old: Tree = self.node.get("status") or {}
        new = self._status(old)
        patch = {key: value for key, value in new.items() if old.get(key) != value}
        same = same_conditions(old.get("conditions") or (), new["conditions"])
        if same and not self._stale(old):
            patch.pop("conditions", None)
        if patch:
            self._patch(patch)

    def _write_change(self) -> None:
        try:
            self._write()
        except (ApiError, ClusterError) as error:
            self._loop.report("node", self._settings.name, error)  # the next beat writes it

    def _stale(self, old: Tree) -> bool:
        beats = [str(each.get("lastHeartbeatTime") or "") for each in old.get("conditions") or ()]
        newest = max((parse_time(beat) for beat in beats if beat), default=0.0)
        return self._loop.clock.now() - newest >= _REPORT_SECONDS

    def _patch(self, status: Tree) -> None:
        try:
            self.node = self._client.patch(
                "nodes", Key("", self._settings.name), {"status": status}, subresource="status"
            )
        except NotFound:
            self._registered = False

    def _renew(self) -> None:
        """Renew the node's lease, which belongs to its object."""
        settings = self._settings
        key = Key(_LEASE_NAMESPACE, settings.name)
        spec = {
            "holderIdentity": settings.name,
            "leaseDurationSeconds": settings.lease_seconds,
            "renewTime": micro_time_text(self._loop.clock.now()),
        }
        try:
            self._client.patch(_LEASES, key, {"spec": spec})
        except NotFound:
            if self.node is None:
                return
            owner = {
                "apiVersion": "v1",
                "kind": "Node",
                "name": settings.name,
                "uid": self.node["metadata"]["uid"],
            }
            lease: Tree = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {
                    "name": settings.name,
                    "namespace": _LEASE_NAMESPACE,
                    "ownerReferences": [owner],
                },
                "spec": spec,
            }
            with suppress(AlreadyExists):
                self._client.create(_LEASES, lease)

    def _tell(self, type_: str, reason: str, message: str) -> None:
        subject = Subject("Node", self._settings.name)
        told = self._recorder.normal if type_ == "Normal" else self._recorder.warning
        told(subject, reason, message)

    def _tell_status(self, reason: str) -> None:
        self._tell("Normal", reason, f"Node {self._settings.name} status is now: {reason}")
