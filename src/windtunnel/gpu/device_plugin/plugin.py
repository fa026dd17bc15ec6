"""The device plugin as a part: looks at its node's document, keeps sockets and kubelet in line.

It polls its ConfigMap, for the operator's role lets it get, not watch; and it polls the identity of
the kubelet's socket, for a kubelet that starts anew knows no plugin and has removed their sockets.
Neither the API server nor the kubelet need be there: it waits for both, and keeps offering what it
knows. Registering may take seconds and happens on a thread.

Source: fake-gpu-operator 0.2 for names and answers. That one reads its document once, draws ids by
lot, and ends when a document or a kubelet is missing; so do we under ``compat: "0.2"``.
"""

from __future__ import annotations

import secrets
import threading
import uuid
from collections.abc import Callable
from typing import Final

from windtunnel.client import Client
from windtunnel.devices import (
    NodeTopology,
    allocatable_of,
    capacity_of,
    parse_cluster_topology,
    parse_node_topology,
    topology_text,
)
from windtunnel.errors import ClusterError, WindtunnelError
from windtunnel.gpu.device_plugin.hostfiles import leave_files
from windtunnel.gpu.device_plugin.offers import DeviceList, offers
from windtunnel.gpu.device_plugin.resource_plugin import ResourcePlugin, register
from windtunnel.gpu.device_plugin.settings import Settings
from windtunnel.gpu.sockets import NoSocket
from windtunnel.kernel import Loop, Ticket
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.tree import Key

LOOK_SECONDS: Final = 2.0
"""How often the document is read once it was there."""
_IMPATIENT_SECONDS: Final = 0.5
"""How often before that, and how often the kubelet's socket is looked at."""

SocketId = tuple[int, int, int]
"""Device, inode and time of change of a socket: another one after each start of a kubelet."""


class NoTopology(WindtunnelError):
    """The node's document is not there, where it must be."""


class NoKubelet(WindtunnelError):
    """No kubelet answers, where one must."""

    exit_code = 2


class DevicePlugin:
    """Offers the devices of one node.

    Args:
        client: Of the API server with the node's document.
        loop: Whose steps look at it.
        settings: Which node, and where.
    """

    name: Final = "device-plugin"

    def __init__(self, client: Client, loop: Loop, settings: Settings) -> None:
        self._client, self._loop, self._settings = client, loop, settings
        self._tickets: list[Ticket] = []
        self._plugins: dict[str, ResourcePlugin] = {}
        self._known: dict[str, SocketId | None] = {}
        """The kubelet that each resource is registered with."""
        self._registering = False
        self._once: bool | None = None
        """Whether the document is read once, as the original does; None until that is known."""
        self._topology: NodeTopology | None = None
        self._told = ""

    def start(self) -> None:
        """Leave files on the host, and look.

        Raises:
            NoTopology: a node without a kubelet has no document.
        """
        try:
            leave_files(self._settings.root)
        except OSError as error:
            self._tell("files", error)
        if self._settings.fake_node:
            self._write_status()
        else:
            self._look()
            self._watch_kubelet()

    def stop(self) -> None:
        """Look no more, and leave no sockets."""
        for ticket in self._tickets:
            ticket.cancel()
        for plugin in self._plugins.values():
            plugin.stop()
        self._plugins.clear()

    def _later(self, seconds: float, step: Callable[[], None]) -> None:
        self._tickets = [ticket for ticket in self._tickets if ticket.pending]
        self._tickets.append(self._loop.call_after(seconds, step))

    def _tell(self, what: str, error: Exception) -> None:
        """Report what is wrong, once as long as it stays the same."""
        if str(error) != self._told:
            self._told = str(error)
            self._loop.report(self.name, what, error)

    def _read(self) -> NodeTopology | None:
        """Return the node's document, or None; ValueError where it cannot be read."""
        found = self._client.get("configmaps", self._settings.document)
        return None if found is None else parse_node_topology(topology_text(found))

    def _missing(self) -> NoTopology:
        name = self._settings.document.name
        return NoTopology(f'Failed to get topology: configmaps "{name}" not found')

    def _write_status(self) -> None:
        topology = self._read()
        if topology is None:
            raise self._missing()
        status = {"capacity": capacity_of(topology), "allocatable": allocatable_of(topology)}
        key = Key("", self._settings.node)
        self._client.patch("nodes", key, {"status": status}, subresource="status")

    def _look(self) -> None:
        topology: NodeTopology | None = None
        try:
            if self._once is None:
                self._once = self._is_asked_to_be_as_the_original()
            topology = self._read()
            if topology is None and self._once:
                raise self._missing()
            if topology is not None and topology != self._topology:
                self._topology = topology
                self._offer(topology)
        except (ApiError, ClusterError, ValueError, NoSocket) as error:
            self._tell("topology", error)
        if not (self._once and self._topology is not None):
            seconds = LOOK_SECONDS if self._topology is not None else _IMPATIENT_SECONDS
            self._later(seconds, self._look)

    def _is_asked_to_be_as_the_original(self) -> bool:
        settings = self._settings
        found = self._client.get("configmaps", Key(settings.namespace, settings.topology_name))
        try:
            return found is not None and parse_cluster_topology(topology_text(found)).compat
        except ValueError:
            return False  # who writes nodes' documents of it has a word to say about that

    def _offer(self, topology: NodeTopology) -> None:
        settings = self._settings
        found = offers(topology, settings.node, _drawn if self._once else None)
        # What is told at registration cannot be told anew otherwise.
        stays = {(offer.resource, offer.shared) for offer in found}
        for resource, plugin in list(self._plugins.items()):
            if (resource, plugin.offer.shared) not in stays:
                plugin.stop()
                del self._plugins[resource]
                self._known.pop(resource, None)
        environment = {"NODE_NAME": settings.node}
        if settings.topology_url:
            environment["TOPOLOGY_SERVER_URL"] = settings.topology_url
            if self._once:
                environment["WINDTUNNEL_COMPAT"] = "0.2"  # for nvidia-smi
        for offer in found:
            known = self._plugins.get(offer.resource)
            if known is None:
                self._plugins[offer.resource] = ResourcePlugin(offer, settings.sockets, environment)
            else:
                known.replace(offer)

    def _watch_kubelet(self) -> None:
        self._later(_IMPATIENT_SECONDS, self._watch_kubelet)
        present = self._kubelet()
        if self._registering or (present is None and not self._once):
            return
        strange = [
            plugin
            for resource, plugin in self._plugins.items()
            if not plugin.listens or resource not in self._known or self._known[resource] != present
        ]
        try:
            for plugin in strange:
                # A kubelet removes all sockets when it starts: the one we have is gone.
                plugin.stop()
                plugin.start()
        except NoSocket as error:
            self._tell("sockets", error)
            return
        if strange:
            self._registering = True
            found = [plugin.offer for plugin in strange]
            threading.Thread(
                target=self._register, args=(present, found), name="register", daemon=True
            ).start()

    def _kubelet(self) -> SocketId | None:
        try:
            found = (self._settings.sockets / "kubelet.sock").stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_ctime_ns

    def _register(self, present: SocketId | None, found: list[DeviceList]) -> None:
        """Register offers; on a thread of its own."""
        done: dict[str, SocketId | None] = {}
        problem: Exception | None = None
        for offer in found:
            try:
                register(self._settings.sockets / "kubelet.sock", offer)
            except ConnectionError as error:
                problem = error
                break
            done[offer.resource] = present
        self._loop.post(lambda: self._registered(done, problem))

    def _registered(self, done: dict[str, SocketId | None], problem: Exception | None) -> None:
        self._registering = False
        self._known |= done
        if problem is None:
            self._told = ""
        elif self._once:
            raise NoKubelet(f"cannot register with the kubelet: {problem}")
        else:
            self._tell("kubelet", problem)


def _drawn() -> str:
    return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))
