"""Who gets what: pods are let in with devices of their own, aligned, or turned away.

A sequence of questions to plugins is a generator: each ``yield`` gives away a call that may block,
and is sent its answer. One admission must be over before the next begins; ``prestart`` may be
played beside it.

Source: kubelet v1.36, device manager and topology manager; texts are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.devices import alignment
from windtunnel.nodes.kubelet.devices.admission import (
    MISALIGNED,
    UNEXPECTED,
    Admitted,
    Rejected,
    Wish,
    total_of,
    wishes_of,
)
from windtunnel.nodes.kubelet.devices.counts import DeviceCounts
from windtunnel.nodes.kubelet.devices.hints import Hint, device_hints, mask_of
from windtunnel.nodes.kubelet.devices.holdings import NO_NODE, HeldDevices
from windtunnel.nodes.kubelet.devices.knowledge import Knowledge
from windtunnel.nodes.kubelet.devices.link import PluginFailed, PluginLink
from windtunnel.nodes.kubelet.devices.questions import Questions
from windtunnel.nodes.kubelet.devices.selection import DeviceRequest, Unavailable, begin, complete
from windtunnel.nodes.kubelet.settings import TopologyPolicy, TopologyScope


class Allotment:
    """Gives devices to containers."""

    def __init__(
        self,
        known: Knowledge,
        counts: DeviceCounts,
        *,
        policy: TopologyPolicy,
        scope: TopologyScope,
        numa_nodes: int,
    ) -> None:
        self._known, self._counts = known, counts
        self._policy, self._scope = policy, scope
        self._machine = mask_of(range(numa_nodes))
        self._drafted: dict[str, set[str]] = {}
        """What is being given, and not yet held."""
        self._admitting = ""

    def admission(self, pod: Tree, running: frozenset[str]) -> Questions[Admitted | Rejected]:
        """Give a pod its devices; ``running`` names containers that run already."""
        uid: str = dig(pod, "metadata", "uid")
        wishes = wishes_of(pod)
        self._admitting = uid
        reusable: dict[str, set[str]] = {}
        counted = self._policy != "none"
        if counted:
            self._counts.alignments.inc()
        try:
            whole = alignment.Alignment(None, True)
            if counted and self._scope == "pod":
                whole = self._align(uid, [wish.container for wish in wishes], total_of(wishes), {})
            for wish in wishes:
                aligned = whole
                if counted and self._scope == "container":
                    aligned = self._align(uid, [wish.container], dict(wish.resources), reusable)
                if not aligned.admitted:
                    self._counts.misalignments.inc()
                    return Rejected(
                        MISALIGNED, "Resources cannot be allocated with Topology locality"
                    )
                already = wish.container in running
                yield from self._allocate(uid, wish, reusable, aligned.mask, already)
                self._lend(uid, wish, reusable)
        except (PluginFailed, Unavailable) as error:
            if counted:
                self._counts.misalignments.inc()
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
            if not self._known.offers(resource):
                continue
            self._known.collect(self._admitting)
            request = DeviceRequest(
                pod_uid=uid,
                container=wish.container,
                resource=resource,
                required=required,
                held=self._known.holdings.one(uid, wish.container, resource),
                reusable=frozenset(reusable.get(resource, ())),
                healthy=self._known.inventory.healthy(resource),
                in_use=self._known.holdings.held(resource) | self._drafted.get(resource, set()),
                registered=self._known.inventory.knows(resource),
                running=running,
            )
            selection = begin(request, self._known.inventory.listed(resource), mask)
            preferred: frozenset[str] = frozenset()
            if selection.question is not None:
                endpoint = self._known.endpoint(resource)
                if endpoint.options.preferred:
                    link = endpoint.line()
                    preferred = yield partial(link.prefer, selection.question)
            devices = complete(selection, preferred)
            if not devices:
                continue
            self._drafted.setdefault(resource, set()).update(devices)
            link = self._known.endpoint(resource).line()
            answer = yield partial(self._timed_allocation, resource, link, devices)
            self._known.holdings.put(
                uid, wish.container, resource, self._holding(resource, devices, answer)
            )
            given = True
        if given:
            self._known.write()

    def _timed_allocation(self, resource: str, link: PluginLink, devices: Iterable[str]) -> bytes:
        """Ask a plugin, on a thread of its own, and note how long it took."""
        with self._counts.allocation_seconds.labels(resource).time():
            return link.allocate(devices)

    def _holding(self, resource: str, devices: Iterable[str], answer: bytes) -> HeldDevices:
        listed = self._known.inventory.listed(resource)
        by_node: dict[int, list[str]] = {}
        for device in sorted(devices):
            for node in (listed[device].nodes if device in listed else ()) or (NO_NODE,):
                by_node.setdefault(node, []).append(device)
        return HeldDevices({node: tuple(ids) for node, ids in by_node.items()}, answer)

    def _lend(self, uid: str, wish: Wish, reusable: dict[str, set[str]]) -> None:
        """Leave devices of an init container that ends to those after it; take the others'."""
        for resource, holding in self._known.holdings.of(uid, wish.container).items():
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
        self._known.collect(self._admitting)
        opinions: list[alignment.Opinion] = []
        for resource, count in sorted(requests.items()):
            if self._known.offers(resource):
                left = reusable.get(resource, set())
                opinions.append(self._hints(uid, containers, resource, count, left))
        return alignment.align(self._policy, opinions, self._machine)

    def _hints(
        self, uid: str, containers: list[str], resource: str, count: int, reusable: set[str]
    ) -> list[Hint] | None:
        listed = self._known.inventory.listed(resource)
        given = (self._known.holdings.one(uid, name, resource) for name in containers)
        held = frozenset().union(*(one for one in given if one))
        if held:
            if len(held) != count:
                return [] if any(device.nodes for device in listed.values()) else None
            return device_hints(listed, held, (), count, self._machine)
        free = self._known.inventory.healthy(resource) - self._known.holdings.held(resource)
        return device_hints(listed, free, reusable, count, self._machine)

    def prestart(self, uid: str, wish: Wish) -> Questions[str | None]:
        """Tell plugins that want to know that a container of theirs is about to start."""
        try:
            for resource, count in wish.resources:
                if not count or not self._known.offers(resource):
                    continue
                endpoint = self._known.endpoint(resource)
                if not endpoint.options.prestart:
                    continue
                devices = self._known.holdings.one(uid, wish.container, resource)
                if devices is None:
                    return (
                        f"no devices found allocated in local cache for pod {uid}, "
                        f"container {wish.container}, resource {resource}"
                    )
                try:
                    link = endpoint.line()
                except Unavailable as error:
                    return f"device plugin PreStartContainer rpc failed with err: {error}"
                yield partial(link.prestart, devices)
        except (PluginFailed, Unavailable) as error:
            return str(error)
        return None

    def late_wish(self, pod: Tree, container: str) -> Wish | None:
        """Return what a container should hold and does not, since its plugin came after it."""
        uid = dig(pod, "metadata", "uid") or ""
        wish = next(one for one in wishes_of(pod) if one.container == container)
        missing = tuple(
            (resource, count)
            for resource, count in wish.resources
            if count
            and self._known.offers(resource)
            and self._known.holdings.one(uid, container, resource) is None
        )
        return Wish(container, missing, wish.lends) if missing else None

    def late(self, uid: str, wish: Wish) -> Questions[str | None]:
        """Give a container what it should have been given before."""
        self._admitting = uid
        try:
            yield from self._allocate(uid, wish, {}, None)
        except (PluginFailed, Unavailable) as error:
            return str(error)
        finally:
            self._drafted.clear()
        return None
