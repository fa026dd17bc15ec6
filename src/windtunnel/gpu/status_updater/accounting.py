"""Who has which GPU of a node, and how busy each looks: from scratch, out of what is there.

Pure. The pods of the node decide; the document only remembers which GPU each of them got, so that a
GPU stays with its pod. What is given are lots: a GPU is one, or several where it is cut or shared.
Whatever was missed while nobody looked (a pod that came or went, a restart, a document that was
lost) comes right with the next account.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from windtunnel.devices import (
    GPU,
    NOBODY,
    AllocatedBy,
    GpuStatus,
    NodeTopology,
    PodUsage,
    pod_usage,
)
from windtunnel.gpu.status_updater.claimant import Claimant
from windtunnel.gpu.status_updater.lots import GpuPlace, lots_of
from windtunnel.machinery.tree import Key


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with one pod, in words."""

    pod: Key
    uid: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The GPUs of a node as they stand."""

    topology: NodeTopology
    reservations: tuple[tuple[Key, str], ...] = ()
    """(reservation pod, the id of the GPU it holds) where the pod does not say so yet."""
    flaws: tuple[Flaw, ...] = ()
    accounted: bool = False
    """Whether any pod is in it."""


def account(
    topology: NodeTopology,
    claimants: Sequence[Claimant],
    reservation_namespace: str,
    devices_of: Callable[[Claimant], Sequence[str]],
    workload_of: Callable[[Claimant], str],
) -> Account:
    """Say who has which GPU, in the order in which the pods came where there is a choice.

    Args:
        topology: The GPUs, and who had them.
        claimants: The pods of the node.
        reservation_namespace: Where reservation pods live.
        devices_of: The GPUs that were allocated to a pod's claims; raises ValueError where that
            cannot be said.
        workload_of: The sort of workload a pod is of.
    """
    return _Accountant(topology, reservation_namespace, devices_of, workload_of).run(claimants)


class _Accountant:
    """The working papers of one account."""

    def __init__(
        self,
        topology: NodeTopology,
        reservation_namespace: str,
        devices_of: Callable[[Claimant], Sequence[str]],
        workload_of: Callable[[Claimant], str],
    ) -> None:
        self._topology, self._reservation_namespace = topology, reservation_namespace
        self._devices_of, self._workload_of = devices_of, workload_of
        self._lots = lots_of(topology)
        self._offered = {lot.resource for lot in self._lots}
        self._owners = [NOBODY] * len(self._lots)
        self._usage: dict[GpuPlace, dict[str, PodUsage]] = {}
        self._flaws: list[Flaw] = []
        self._accounted = False

    def run(self, claimants: Sequence[Claimant]) -> Account:
        devices = self._claimed_devices(claimants)
        needs = Counter(
            {
                (resource, AllocatedBy(*one.key, container)): count
                for one in claimants
                for resource, container, count in one.asks()
            }
        )
        self._follow_the_kubelet(claimants, needs)
        self._leave_with_owners(claimants, needs, devices)
        self._give_claimed(claimants, devices)
        self._give_free(claimants, needs)
        self._load(claimants, devices)
        return Account(
            topology=self._result(),
            reservations=tuple(
                (one.key, self._lots[held].id)
                for one in claimants
                if self._is_reservation(one)
                and one.reserved is None
                and (held := self._first_of(one.key)) is not None
            ),
            flaws=tuple(self._flaws),
            accounted=self._accounted,
        )

    def _result(self) -> NodeTopology:
        owners: dict[GpuPlace, AllocatedBy] = {}
        for lot, owner in zip(self._lots, self._owners, strict=True):
            if owner != NOBODY:
                owners.setdefault(lot.place, owner)

        def status(place: GpuPlace) -> GpuStatus:
            return GpuStatus(owners.get(place, NOBODY), self._usage.get(place, {}))

        return msgspec.structs.replace(
            self._topology,
            gpus=tuple(
                msgspec.structs.replace(
                    gpu,
                    status=status((number, None)),
                    mig=None
                    if gpu.mig is None
                    else tuple(
                        msgspec.structs.replace(one, status=status((number, index)))
                        for index, one in enumerate(gpu.mig)
                    ),
                )
                for number, gpu in enumerate(self._topology.gpus)
            ),
        )

    def _claimed_devices(self, claimants: Sequence[Claimant]) -> dict[str, list[int]]:
        """Return which GPUs the claims of each pod, by UID, got."""
        found: dict[str, list[int]] = {}
        index = {lot.id.casefold(): number for number, lot in reversed([*enumerate(self._lots)])}
        for one in claimants:
            if not one.claims:
                continue
            try:
                names = self._devices_of(one)
            except ValueError as error:
                self._flaw(one, "ClaimNotReady", str(error))
                continue
            self._accounted = True
            found[one.uid] = []
            for name in names:
                number = index.get(name.casefold())
                if number is None:
                    self._flaw(one, "UnknownDevice", f"node {one.node} has no GPU {name}")
                else:
                    found[one.uid].append(number)
        return found

    def _follow_the_kubelet(
        self, claimants: Sequence[Claimant], needs: Counter[tuple[str, AllocatedBy]]
    ) -> None:
        """Where the kubelet says which devices it gave, nothing else counts."""
        index: dict[str, list[int]] = {}
        for number, lot in enumerate(self._lots):
            index.setdefault(lot.id, []).append(number)
        for one in claimants:
            for container, device in one.given:
                owner = AllocatedBy(*one.key, container)
                for number in index.get(device.partition("::")[0], ()):
                    if self._take(number, owner, needs):
                        break

    def _take(
        self, number: int, owner: AllocatedBy, needs: Counter[tuple[str, AllocatedBy]]
    ) -> bool:
        """Give a lot that is free to who needs it; say whether that is so."""
        need = (self._lots[number].resource, owner)
        if self._owners[number] != NOBODY or needs[need] <= 0:
            return False
        needs[need] -= 1
        self._owners[number] = owner
        return True

    def _leave_with_owners(
        self,
        claimants: Sequence[Claimant],
        needs: Counter[tuple[str, AllocatedBy]],
        devices: dict[str, list[int]],
    ) -> None:
        claimed = {number for numbers in devices.values() for number in numbers}
        for number, lot in enumerate(self._lots):
            if number not in claimed and not lot.shared:
                self._take(number, lot.before.allocated_by, needs)
        # Of what is shared the document knows the pods, not how many lots each has.
        shared = [number for number, lot in enumerate(self._lots) if lot.shared]
        for one in claimants if shared else ():
            for _, container, _ in one.asks():
                for number in shared:
                    if one.uid in self._lots[number].before.pod_gpu_usage_status:
                        self._take(number, AllocatedBy(*one.key, container), needs)

    def _give_claimed(self, claimants: Sequence[Claimant], devices: dict[str, list[int]]) -> None:
        """A claim names its GPUs; the first pod of a shared one is said to have it."""
        sharers: dict[int, list[AllocatedBy]] = {}
        for one in claimants:
            for number in devices.get(one.uid, ()):
                owner = AllocatedBy(*one.key, one.claim_container)
                sharers.setdefault(number, []).append(owner)
        for number, owners in sharers.items():
            had = self._lots[number].before.allocated_by
            self._owners[number] = had if had in owners else owners[0]

    def _give_free(
        self, claimants: Sequence[Claimant], needs: Counter[tuple[str, AllocatedBy]]
    ) -> None:
        free: dict[str, list[int]] = {}
        for number, lot in reversed([*enumerate(self._lots)]):
            if self._owners[number] == NOBODY and lot.sound:
                free.setdefault(lot.resource, []).append(number)
        for one in claimants:
            wanted: Counter[str] = Counter()
            short: Counter[str] = Counter()
            for resource, container, count in one.asks():
                if resource != GPU and resource not in self._offered:
                    continue  # devices that are only counted
                self._accounted = True
                wanted[resource] += count
                owner, left = AllocatedBy(*one.key, container), free.get(resource, [])
                while needs[resource, owner] > 0 and left:
                    needs[resource, owner] -= 1
                    self._owners[left.pop()] = owner
                short[resource] += needs[resource, owner]
            for resource, missing in short.items():
                if missing:
                    self._tell_short(one, resource, wanted[resource], missing)

    def _tell_short(self, one: Claimant, resource: str, wanted: int, missing: int) -> None:
        what = "GPUs" if resource == GPU else resource
        there = sum(lot.resource == resource for lot in self._lots)
        self._flaw(
            one,
            "InsufficientGPUs",
            f"{wanted - missing} of {wanted} {what} could be given on node {one.node}, "
            f"which has {there}; the others follow when some are free",
        )

    def _load(self, claimants: Sequence[Claimant], devices: dict[str, list[int]]) -> None:
        held: dict[Key, list[int]] = {}
        for number, owner in enumerate(self._owners):
            held.setdefault(Key(owner.namespace, owner.pod), []).append(number)
        for one in claimants:
            numbers = list(devices.get(one.uid, ()))
            if one.asks() and not self._is_reservation(one):
                numbers += held.get(one.key, ())
            if one.shared:
                numbers += self._shared_gpu(one, claimants)
            if numbers:
                whole = self._usage_of(one, self._topology.gpu_memory)
                for number in numbers:
                    lot = self._lots[number]
                    usage = whole
                    if lot.memory_mib != self._topology.gpu_memory:
                        usage = self._usage_of(one, lot.memory_mib)
                    self._usage.setdefault(lot.place, {})[one.uid] = usage

    def _shared_gpu(self, one: Claimant, claimants: Sequence[Claimant]) -> list[int]:
        holder = self._reservation_of(one, claimants)
        if holder is None:
            named = f"group {one.group}" if one.group else f"index {one.shared_index}"
            self._flaw(
                one,
                "NoReservation",
                f"no reservation pod found for gpu {named} on node {one.node}",
            )
            return []
        number = self._first_of(holder.key)
        if number is None:
            self._flaw(
                one,
                "NoReservation",
                f"reservation pod {holder.key.name} holds no GPU of node {one.node}",
            )
            return []
        self._accounted = True
        return [number]

    def _reservation_of(self, one: Claimant, claimants: Sequence[Claimant]) -> Claimant | None:
        """Return the pod that holds the GPU a shared pod loads: by index, else by group."""
        reservations = [pod for pod in claimants if self._is_reservation(pod)]
        if one.shared_index.lstrip("+-").isdecimal():
            for pod in reservations:
                if pod.reserved == one.shared_index:
                    return pod
        if one.group:
            for pod in reservations:
                if pod.group == one.group:
                    return pod
        return None

    def _usage_of(self, one: Claimant, memory_mib: int) -> PodUsage:
        return pod_usage(
            name=one.key.name,
            running=one.running,
            memory_mib=memory_mib,
            share=one.share,
            simulated=one.simulated,
            workload=self._workload_of(one),
        )

    def _is_reservation(self, one: Claimant) -> bool:
        return bool(one.wants) and one.key.namespace == self._reservation_namespace

    def _first_of(self, pod: Key) -> int | None:
        for number, owner in enumerate(self._owners):
            if owner.pod == pod.name and owner.namespace == pod.namespace:
                return number
        return None

    def _flaw(self, one: Claimant, reason: str, message: str) -> None:
        self._flaws.append(Flaw(one.key, one.uid, reason, message))
