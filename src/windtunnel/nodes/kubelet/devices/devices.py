"""Devices: the part of a kubelet that speaks to device plugins and gives their devices to pods.

Everything that is known is known on the loop's thread. Plugins speak on gRPC's threads and are
spoken to on outside threads, so one that lies, hangs or dies holds up admissions at worst, and
those one after the other, as in a real kubelet.

A plugin is known by its resource alone. When a stream of lists ends, whoever is registered for the
resource is cut off, also a younger instance that has nothing to do with it: a real kubelet does so
too (kubernetes issues 121994 and 127803), and a plugin registers again.

Source: kubelet v1.36; recorded answers of a real one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import grpc

from windtunnel.errors import WindtunnelError
from windtunnel.kernel import Loop, Ticket
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.devices import pod_resources
from windtunnel.nodes.kubelet.devices.admission import (
    Admitted,
    Rejected,
    RunOptions,
    run_options,
    wishes_of,
)
from windtunnel.nodes.kubelet.devices.allotment import Allotment
from windtunnel.nodes.kubelet.devices.counts import DeviceCounts
from windtunnel.nodes.kubelet.devices.holders import allocatable, pods_held
from windtunnel.nodes.kubelet.devices.inventory import GRACE_SECONDS, HEALTHY, Figures, ListedDevice
from windtunnel.nodes.kubelet.devices.knowledge import Active, Endpoint, Knowledge
from windtunnel.nodes.kubelet.devices.link import PluginLink, PluginOptions
from windtunnel.nodes.kubelet.devices.questions import QuestionLine
from windtunnel.nodes.kubelet.devices.registration import Registration
from windtunnel.nodes.kubelet.devices.serving import SocketRefused, serve, sweep
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.settings import TopologyPolicy, TopologyScope
from windtunnel.wire import deviceplugin_pb2_grpc as services

R = TypeVar("R")

_SOCKET: Final = "kubelet.sock"
_RETURN_SECONDS: Final = 10.0
"""How long plugins may take to come back before that they did not is told."""
_ANSWER_SECONDS: Final = 10.0
"""How long a monitoring agent's request waits for the loop."""


class NoPlugin(WindtunnelError):
    """A resource was offered before the kubelet started anew, and is not any more."""


class Devices:
    """Takes plugins' registrations, gives their devices to pods, remembers who holds which."""

    def __init__(
        self,
        loop: Loop,
        outside: Outside,
        folder: Path,
        pod_resources: Path,
        active: Active,
        *,
        policy: TopologyPolicy = "none",
        scope: TopologyScope = "container",
        numa_nodes: int = 1,
        counts: DeviceCounts | None = None,
    ) -> None:
        """Make the part; nothing is served before ``start``.

        Args:
            loop: On whose thread everything is known.
            outside: Where plugins are asked.
            folder: Of plugins' sockets, the registration's own, and the checkpoint.
            pod_resources: The folder of the pod resources socket.
            active: Whose holdings are kept.
            policy: How devices of a container are to lie together.
            scope: Whether containers are aligned, or pods as a whole.
            numa_nodes: How many NUMA nodes the machine has.
            counts: Where things are counted; None counts by itself.
        """
        self._loop = loop
        self._folder, self._pod_resources = folder, pod_resources
        self.counts = counts or DeviceCounts()
        self._known = Knowledge(loop, folder, active)
        self._allotment = Allotment(
            self._known, self.counts, policy=policy, scope=scope, numa_nodes=numa_nodes
        )
        self._line = QuestionLine(loop, outside)
        self._listeners: list[Callable[[frozenset[str]], None]] = []
        self._servers: list[grpc.Server] = []
        self._running = False
        self._missing: Ticket | None = None
        self.trouble = ""
        """Why plugins or agents find no socket here; "" where they do."""

    @property
    def fresh(self) -> bool:
        """Whether no checkpoint was there at the start: this node is a new one."""
        return self._known.fresh

    def start(self) -> None:
        """Restore what was known, sweep old sockets, let plugins register."""
        self._running = True
        self._line.open()
        self.trouble = ""
        try:
            self._folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            self._known.restore()
            sweep(self._folder)
            registration = Registration(self._folder, self._count_registration, self._registered)
            self._servers.append(
                serve(
                    self._folder / _SOCKET,
                    partial(services.add_RegistrationServicer_to_server, registration),
                )
            )
            ask = pod_resources.HolderQueries(
                partial(self._fetch, partial(pods_held, self._known)),
                partial(self._fetch, partial(allocatable, self._known)),
            )
            self._servers.append(
                serve(
                    self._pod_resources / _SOCKET,
                    lambda server: pod_resources.add(server, ask, self.counts, self._loop.clock),
                )
            )
        except (OSError, SocketRefused) as error:
            self.trouble = str(error)
            self._loop.report("devices", str(self._folder), error)
        self._missing = self._loop.call_after(_RETURN_SECONDS, self._tell_missing)

    def stop(self) -> None:
        """Hang up on everyone; what is known stays in the checkpoint."""
        self._running = False
        if self._missing is not None:
            self._missing.cancel()
        for endpoint in self._known.endpoints.values():
            if endpoint.link is not None:
                endpoint.link.close()
        for server in self._servers:
            server.stop(None)
        self._servers.clear()
        self._known.endpoints.clear()
        self._line.close()

    def _tell_missing(self) -> None:
        for resource in self._known.inventory.missing():
            words = f"no plugin has registered {resource} again: the node offers 0 of it"
            self._loop.report("devices", resource, NoPlugin(words))

    def listen(self, deliver: Callable[[frozenset[str]], None]) -> None:
        """Have told when figures change, and the pods in which a device's health has changed."""
        self._listeners.append(deliver)

    def figures(self) -> Figures:
        """Return how many devices of each resource there are; a resource is never forgotten."""
        return self._known.inventory.figures(self._loop.clock.now())

    def in_use(self) -> dict[str, int]:
        """Return how many devices of each resource pods hold."""
        return {
            resource: len(self._known.holdings.held(resource))
            for resource in sorted(self._known.holdings.resources())
        }

    def health(self, pod_uid: str, container: str) -> list[Tree]:
        """Return ``allocatedResourcesStatus`` of an app container, empty where it holds nothing."""
        found = []
        for resource, grant in self._known.holdings.of(pod_uid, container).items():
            listed = self._known.inventory.listed(resource)
            states = [
                {"resourceID": one, "health": listed[one].shown if one in listed else HEALTHY}
                for one in sorted(grant.ids)
            ]
            found.append({"name": resource, "resources": states})
        return found

    def run_options(self, pod_uid: str, container: str) -> RunOptions:
        """Return what plugins want a container to have."""
        held = self._known.holdings.of(pod_uid, container)
        return run_options(holding.answer for holding in held.values())

    def admit(
        self,
        pod: Tree,
        then: Callable[[Admitted | Rejected], None],
        *,
        running: frozenset[str] = frozenset(),
    ) -> None:
        """Give a pod its devices, after all pods that came before it have theirs.

        Args:
            pod: The pod; its tree is only read.
            then: Told, in a step, what came of it.
            running: Containers that run already, seen at the first look after a start.
        """
        self._line.append(self._allotment.admission(pod, running), then)

    def prepare(self, pod: Tree, container: str, then: Callable[[str | None], None]) -> None:
        """See to it that a container can be made: call before each time it is.

        Args:
            pod: The pod; its tree is only read.
            container: Which of its containers.
            then: Told, in a step, None or why it cannot.
        """

        def asked(outcome: str | None) -> None:
            wish = self._allotment.late_wish(pod, container)
            if outcome is not None or wish is None:
                then(outcome)
            else:
                self._line.append(self._allotment.late(dig(pod, "metadata", "uid"), wish), then)

        wishes = {wish.container: wish for wish in wishes_of(pod)}
        if container not in wishes:
            self._loop.call_soon(lambda: then(None))  # it was added later, and has none
            return
        uid = dig(pod, "metadata", "uid") or ""
        self._line.play(self._allotment.prestart(uid, wishes[container]), asked)

    def _registered(self, resource: str, link: PluginLink, options: PluginOptions) -> None:
        """Take a plugin that got through; called on a thread of the server's."""
        self._loop.post(lambda: self._connect(resource, link, options))

    def _connect(self, resource: str, link: PluginLink, options: PluginOptions) -> None:
        if not self._running:
            link.close()
            return
        self._known.endpoints[resource] = Endpoint(link, options)
        self._known.inventory.connected(resource)
        pending: deque[tuple[ListedDevice, ...]] = deque(maxlen=1)

        def take() -> None:
            if pending and self._running:
                self._take_list(resource, pending.pop())

        def deliver(devices: tuple[ListedDevice, ...]) -> None:
            # Of lists that come faster than they are taken the last one counts.
            waiting = bool(pending)
            pending.append(devices)
            if not waiting:
                self._loop.post(take)

        link.listen(deliver, lambda: self._loop.post(lambda: self._stream_ended(resource, link)))

    def _take_list(self, resource: str, devices: Iterable[ListedDevice]) -> None:
        before = self.figures()
        changed = self._known.inventory.take_list(resource, devices)
        self._known.write()
        pods = self._known.holdings.pods_with(changed)
        if pods or self.figures() != before:
            self._tell(pods)

    def _stream_ended(self, resource: str, link: PluginLink) -> None:
        """Cut off whoever is registered for the resource; see the module for why."""
        link.close()
        endpoint = self._known.endpoints.get(resource)
        if not self._running or endpoint is None or endpoint.stopped:
            return
        endpoint.stopped = True
        if endpoint.link is not None:
            endpoint.link.close()
        self._known.inventory.stopped(resource, self._loop.clock.now())
        self._loop.call_after(GRACE_SECONDS + 1, lambda: self._tell(frozenset()))
        self._tell(frozenset())

    def _tell(self, pods: frozenset[str]) -> None:
        if self._running:
            for deliver in self._listeners:
                deliver(pods)

    def _count_registration(self, resource: str) -> None:
        self.counts.registrations.labels(resource).inc()

    def _fetch(self, work: Callable[[], R]) -> R:
        """Return what ``work`` finds on the loop's thread; called on any other."""
        answer: Future[R] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except Exception as error:
                answer.set_exception(error)

        self._loop.post(run)
        return answer.result(timeout=_ANSWER_SECONDS)
