"""Devices: the part of a kubelet that speaks to device plugins and gives their devices to pods.

Everything that is known is known on the loop's thread. Plugins speak on gRPC's threads and are
spoken to on outside threads, so one that lies, hangs or dies holds up admissions at worst, and
those one after the other, as in a real kubelet. A sequence of questions is written as a generator:
each ``yield`` gives away a call that may block, and gets its answer.

A plugin is known by its resource alone. When a stream of lists ends, whoever is registered for the
resource is cut off, also a younger instance that has nothing to do with it: a real kubelet does so
too (kubernetes issues 121994 and 127803), and a plugin registers again.

Source: kubelet v1.36; recorded answers of a real one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import grpc

from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.devices import alignment, checkpoint, pod_resources
from windtunnel.nodes.kubelet.devices.admission import (
    MISALIGNED,
    UNEXPECTED,
    Admitted,
    Rejected,
    RunOptions,
    Wish,
    run_options,
    total_of,
    wishes_of,
)
from windtunnel.nodes.kubelet.devices.alignment import Policy, Scope
from windtunnel.nodes.kubelet.devices.counts import DeviceCounts
from windtunnel.nodes.kubelet.devices.hints import Hint, device_hints, mask_of
from windtunnel.nodes.kubelet.devices.holdings import NO_NODE, Holding, Holdings
from windtunnel.nodes.kubelet.devices.inventory import (
    GRACE_SECONDS,
    Figures,
    Inventory,
    ListedDevice,
)
from windtunnel.nodes.kubelet.devices.link import (
    NO_WISHES,
    PluginFailed,
    PluginLink,
    PluginOptions,
)
from windtunnel.nodes.kubelet.devices.registration import Registration
from windtunnel.nodes.kubelet.devices.selection import (
    Request,
    Unavailable,
    begin,
    complete,
)
from windtunnel.nodes.kubelet.devices.serving import SocketRefused, serve, sweep
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.wire import deviceplugin_pb2_grpc as services

R = TypeVar("R")

Questions = Generator[Callable[[], Any], Any, R]
"""Yields calls that may block, is sent their answers, returns what comes of them."""

Active = Callable[[], list[Tree] | None]
"""The pods that are neither over nor rejected; None: not known yet."""

_SOCKET: Final = "kubelet.sock"
_ANSWER_SECONDS: Final = 10.0
"""How long a monitoring agent's request waits for the loop."""


@dataclass(slots=True)
class _Endpoint:
    """Who stands behind a resource; without a link nobody has since the kubelet started."""

    link: PluginLink | None = None
    options: PluginOptions = NO_WISHES
    stopped: bool = False


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
        policy: Policy = "none",
        scope: Scope = "container",
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
        self._loop, self._outside, self._active = loop, outside, active
        self._folder, self._pod_resources = folder, pod_resources
        self._policy, self._scope = policy, scope
        self._machine = mask_of(range(numa_nodes))
        self._inventory, self._holdings = Inventory(), Holdings()
        self._endpoints: dict[str, _Endpoint] = {}
        self._line: deque[Callable[[], None]] = deque()
        self._serving = False
        self._drafted: dict[str, set[str]] = {}
        self._admitting = ""
        self._listeners: list[Callable[[frozenset[str]], None]] = []
        self._servers: list[grpc.Server] = []
        self._thread = 0
        self._running = False
        self.counts = counts or DeviceCounts()
        self.fresh = True
        """No checkpoint was there at the start: this node is a new one."""
        self.trouble = ""
        """Why plugins or agents find no socket here; "" where they do."""

    def start(self) -> None:
        """Restore what was known, sweep old sockets, let plugins register."""
        self._running, self._thread = True, threading.get_ident()
        self.trouble = ""
        try:
            self._folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            self._restore()
            sweep(self._folder)
            registration = Registration(self._folder, self._count_registration, self._registered)
            self._servers.append(
                serve(
                    self._folder / _SOCKET,
                    partial(services.add_RegistrationServicer_to_server, registration),
                )
            )
            ask = pod_resources.Ask(
                partial(self._fetch, self._pods_held), partial(self._fetch, self._usable)
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

    def stop(self) -> None:
        """Hang up on everyone; what is known stays in the checkpoint."""
        self._running = False
        for endpoint in self._endpoints.values():
            if endpoint.link is not None:
                endpoint.link.close()
        for server in self._servers:
            server.stop(None)
        self._servers.clear()
        self._endpoints.clear()
        self._line.clear()

    def listen(self, deliver: Callable[[frozenset[str]], None]) -> None:
        """Have told when figures change, and the pods in which a device's health has changed."""
        self._listeners.append(deliver)

    def figures(self) -> Figures:
        """Return how many devices of each resource there are; a resource is never forgotten."""
        return self._inventory.figures(self._loop.clock.now())

    def in_use(self) -> dict[str, int]:
        """Return how many devices of each resource pods hold."""
        return {
            resource: len(self._holdings.held(resource))
            for resource in sorted(self._holdings.resources())
        }

    def health(self, pod_uid: str, container: str) -> list[Tree]:
        """Return ``allocatedResourcesStatus`` of an app container, empty where it holds nothing."""
        found = []
        for resource, holding in self._holdings.of(pod_uid, container).items():
            listed = self._inventory.listed(resource)
            states = [
                {"resourceID": one, "health": listed[one].health if one in listed else "Healthy"}
                for one in sorted(holding.ids)
            ]
            found.append({"name": resource, "resources": states})
        return found

    def run_options(self, pod_uid: str, container: str) -> RunOptions:
        """Return what plugins want a container to have."""
        held = self._holdings.of(pod_uid, container)
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
        self._queue(self._admission(pod, running), then)

    def prepare(self, pod: Tree, container: str, then: Callable[[str | None], None]) -> None:
        """See to it that a container can be made: call before each time it is.

        Args:
            pod: The pod; its tree is only read.
            container: Which of its containers.
            then: Told, in a step, None or why it cannot.
        """

        def asked(outcome: str | None) -> None:
            wish = self._late_wish(pod, container)
            if outcome is not None or wish is None:
                then(outcome)
            else:
                self._queue(self._late(dig(pod, "metadata", "uid"), wish), then)

        wishes = {wish.container: wish for wish in wishes_of(pod)}
        uid = dig(pod, "metadata", "uid") or ""
        self._play(self._prestart(uid, wishes[container]), asked)

    # Who is there.

    def _registered(self, resource: str, link: PluginLink, options: PluginOptions) -> None:
        """Take a plugin that got through; called on a thread of the server's."""
        self._loop.post(lambda: self._connect(resource, link, options))

    def _connect(self, resource: str, link: PluginLink, options: PluginOptions) -> None:
        if not self._running:
            link.close()
            return
        self._endpoints[resource] = _Endpoint(link, options)
        self._inventory.connected(resource)
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
        changed = self._inventory.take_list(resource, devices)
        self._write()
        pods = self._holdings.pods_with(changed)
        if pods or self.figures() != before:
            self._tell(pods)

    def _stream_ended(self, resource: str, link: PluginLink) -> None:
        """Cut off whoever is registered for the resource; see the module for why."""
        link.close()
        endpoint = self._endpoints.get(resource)
        if not self._running or endpoint is None or endpoint.stopped:
            return
        endpoint.stopped = True
        if endpoint.link is not None:
            endpoint.link.close()
        self._inventory.stopped(resource, self._loop.clock.now())
        self._loop.call_after(GRACE_SECONDS + 1, lambda: self._tell(frozenset()))
        self._tell(frozenset())

    def _tell(self, pods: frozenset[str]) -> None:
        if self._running:
            for deliver in self._listeners:
                deliver(pods)

    # Who gets what.

    def _queue(self, questions: Questions[R], then: Callable[[R], None]) -> None:
        """Play questions after all those that were queued before."""

        def finished(outcome: R) -> None:
            self._serving = False
            then(outcome)
            self._serve_next()

        self._line.append(lambda: self._play(questions, finished))
        self._loop.call_soon(self._serve_next)

    def _serve_next(self) -> None:
        if self._line and not self._serving and self._running:
            self._serving = True
            self._line.popleft()()

    def _play(self, questions: Questions[R], then: Callable[[R], None]) -> None:
        """Play a generator to its end, each of its calls outside."""

        def advance(answer: object) -> None:
            try:
                if isinstance(answer, Exception):
                    work = questions.throw(answer)
                else:
                    work = questions.send(answer)
            except StopIteration as end:
                then(end.value)
                return
            self._outside.call(work, advance)

        self._loop.call_soon(lambda: advance(None))

    def _admission(self, pod: Tree, running: frozenset[str]) -> Questions[Admitted | Rejected]:
        uid: str = dig(pod, "metadata", "uid")
        wishes = wishes_of(pod)
        self._admitting = uid
        reusable: dict[str, set[str]] = {}
        counted = self._policy != "none"
        if counted:
            self.counts.alignments.inc()
        try:
            whole = alignment.Alignment(None, True)
            if counted and self._scope == "pod":
                whole = self._align(uid, [wish.container for wish in wishes], total_of(wishes), {})
            for wish in wishes:
                aligned = whole
                if counted and self._scope == "container":
                    aligned = self._align(uid, [wish.container], dict(wish.resources), reusable)
                if not aligned.admitted:
                    self.counts.misalignments.inc()
                    return Rejected(
                        MISALIGNED, "Resources cannot be allocated with Topology locality"
                    )
                already = wish.container in running
                yield from self._allocate(uid, wish, reusable, aligned.mask, already)
                self._lend(uid, wish, reusable)
        except (PluginFailed, Unavailable) as error:
            if counted:
                self.counts.misalignments.inc()
            return Rejected(UNEXPECTED, f"Allocate failed due to {error}, which is unexpected")
        finally:
            self._drafted.clear()
        return Admitted()

    def _allocate(
        self,
        uid: str,
        wish: Wish,
        reusable: dict[str, set[str]],
        mask: int | None,
        running: bool = False,
    ) -> Questions[None]:
        """Give one container its devices, resource by resource."""
        given = False
        for resource, required in wish.resources:
            if not self._is_ours(resource):
                continue
            self._collect()
            request = Request(
                pod_uid=uid,
                container=wish.container,
                resource=resource,
                required=required,
                held=self._holdings.one(uid, wish.container, resource),
                reusable=frozenset(reusable.get(resource, ())),
                healthy=self._inventory.healthy(resource),
                in_use=self._holdings.held(resource) | self._drafted.get(resource, set()),
                registered=self._inventory.knows(resource),
                running=running,
            )
            selection = begin(request, self._inventory.listed(resource), mask)
            preferred: frozenset[str] = frozenset()
            if selection.question is not None:
                endpoint = self._endpoint(resource)
                if endpoint.options.preferred:
                    link = self._line_to(endpoint)
                    preferred = yield partial(link.prefer, selection.question)
            devices = complete(selection, preferred)
            if not devices:
                continue
            self._drafted.setdefault(resource, set()).update(devices)
            link = self._line_to(self._endpoint(resource))
            answer = yield partial(self._timed_allocation, resource, link, devices)
            self._holdings.put(
                uid, wish.container, resource, self._holding(resource, devices, answer)
            )
            given = True
        if given:
            self._write()

    def _timed_allocation(self, resource: str, link: PluginLink, devices: Iterable[str]) -> bytes:
        """Ask a plugin, on a thread of its own, and note how long it took."""
        with self.counts.allocation_seconds.labels(resource).time():
            return link.allocate(devices)

    def _holding(self, resource: str, devices: Iterable[str], answer: bytes) -> Holding:
        listed = self._inventory.listed(resource)
        by_node: dict[int, list[str]] = {}
        for device in sorted(devices):
            for node in (listed[device].nodes if device in listed else ()) or (NO_NODE,):
                by_node.setdefault(node, []).append(device)
        return Holding({node: tuple(ids) for node, ids in by_node.items()}, answer)

    def _lend(self, uid: str, wish: Wish, reusable: dict[str, set[str]]) -> None:
        """Leave devices of an init container that ends to those after it; take the others'."""
        for resource, holding in self._holdings.of(uid, wish.container).items():
            left = reusable.setdefault(resource, set())
            if wish.lends:
                left |= holding.ids
            else:
                left -= holding.ids

    def _align(
        self,
        uid: str,
        containers: list[str],
        requests: dict[str, int],
        reusable: dict[str, set[str]],
    ) -> alignment.Alignment:
        self._collect()
        opinions: list[alignment.Opinion] = []
        for resource, count in sorted(requests.items()):
            if self._is_ours(resource):
                left = reusable.get(resource, set())
                opinions.append(self._hints(uid, containers, resource, count, left))
        return alignment.align(self._policy, opinions, self._machine)

    def _hints(
        self, uid: str, containers: list[str], resource: str, count: int, reusable: set[str]
    ) -> list[Hint] | None:
        listed = self._inventory.listed(resource)
        given = (self._holdings.one(uid, name, resource) for name in containers)
        held = frozenset().union(*(one for one in given if one))
        if held:
            if len(held) != count:
                return [] if any(device.nodes for device in listed.values()) else None
            return device_hints(listed, held, (), count, self._machine)
        free = self._inventory.healthy(resource) - self._holdings.held(resource)
        return device_hints(listed, free, reusable, count, self._machine)

    def _prestart(self, uid: str, wish: Wish) -> Questions[str | None]:
        """Tell plugins that want to know that a container of theirs is about to start."""
        try:
            for resource, count in wish.resources:
                if not count or not self._is_ours(resource):
                    continue
                endpoint = self._endpoint(resource)
                if not endpoint.options.prestart:
                    continue
                devices = self._holdings.one(uid, wish.container, resource)
                if devices is None:
                    return (
                        f"no devices found allocated in local cache for pod {uid}, "
                        f"container {wish.container}, resource {resource}"
                    )
                if endpoint.link is None or endpoint.stopped:
                    return (
                        "device plugin PreStartContainer rpc failed with err: "
                        f"endpoint {endpoint.link} has been stopped"
                    )
                yield partial(endpoint.link.prestart, devices)
        except (PluginFailed, Unavailable) as error:
            return str(error)
        return None

    def _late_wish(self, pod: Tree, container: str) -> Wish | None:
        """Return what a container should hold and does not, since its plugin came after it."""
        uid = dig(pod, "metadata", "uid") or ""
        wish = next(one for one in wishes_of(pod) if one.container == container)
        missing = tuple(
            (resource, count)
            for resource, count in wish.resources
            if count
            and self._is_ours(resource)
            and self._holdings.one(uid, container, resource) is None
        )
        return Wish(container, missing, wish.lends) if missing else None

    def _late(self, uid: str, wish: Wish) -> Questions[str | None]:
        self._admitting = uid
        try:
            yield from self._allocate(uid, wish, {}, None)
        except (PluginFailed, Unavailable) as error:
            return str(error)
        finally:
            self._drafted.clear()
        return None

    def _is_ours(self, resource: str) -> bool:
        return self._inventory.offers(resource) or resource in self._holdings.resources()

    def _endpoint(self, resource: str) -> _Endpoint:
        endpoint = self._endpoints.get(resource)
        if endpoint is None or self._inventory.expired(resource, self._loop.clock.now()):
            raise Unavailable(f"endpoint not found in cache for a registered resource: {resource}")
        return endpoint

    def _line_to(self, endpoint: _Endpoint) -> PluginLink:
        if endpoint.link is None or endpoint.stopped:
            raise Unavailable(f"endpoint {endpoint.link} has been stopped")
        return endpoint.link

    def _collect(self) -> None:
        """Drop what pods hold that are no longer active."""
        active = self._active()
        if active is not None:
            uids = {dig(pod, "metadata", "uid") for pod in active}
            if self._holdings.keep(uids | {self._admitting}):
                self._write()

    # What is remembered.

    def _restore(self) -> None:
        self._inventory, self._holdings = Inventory(), Holdings()
        self._drafted.clear()
        path = self._folder / checkpoint.NAME
        self.fresh = not path.exists()
        if self.fresh:
            return
        try:
            held, resources = checkpoint.read(path.read_bytes())
        except ValueError as error:
            self._loop.report("devices", str(path), error)
            return
        for uid, container, resource, holding in held:
            self._holdings.put(uid, container, resource, holding)
        self._inventory.restore(resources, self._loop.clock.now())
        self._endpoints = {resource: _Endpoint(stopped=True) for resource in resources}

    def _write(self) -> None:
        path = self._folder / checkpoint.NAME
        draft = path.with_suffix(".tmp")
        try:
            draft.write_bytes(checkpoint.text_of(self._holdings, self._inventory.registered()))
            draft.replace(path)
        except OSError as error:
            self._loop.report("devices", str(path), error)

    # What is told.

    def _count_registration(self, resource: str) -> None:
        self.counts.registrations.labels(resource).inc()

    def _pods_held(self) -> list[pod_resources.PodHoldings]:
        self._collect()
        return [
            pod_resources.PodHoldings(
                dig(pod, "metadata", "namespace") or "",
                dig(pod, "metadata", "name") or "",
                tuple(
                    (name, self._held_by(dig(pod, "metadata", "uid"), name))
                    for name in pod_resources.started_containers(pod)
                ),
            )
            for pod in self._active() or ()
        ]

    def _held_by(self, uid: str, container: str) -> tuple[pod_resources.HeldDevice, ...]:
        return tuple(
            pod_resources.HeldDevice(resource, device, None if node == NO_NODE else node)
            for resource, holding in self._holdings.of(uid, container).items()
            for node, devices in sorted(holding.by_node.items())
            for device in devices
        )

    def _usable(self) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            (resource, device, self._inventory.listed(resource)[device].nodes)
            for resource, devices in self._inventory.registered().items()
            for device in devices
        ]

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
