"""Who has which GPU of a node, and how busy each looks: from scratch, out of what is there.

Pure. The pods of the node decide; the document only remembers which GPU each of them got, so that a
GPU stays with its pod. Whatever was missed while nobody looked (a pod that came or went, a restart,
a document that was lost) comes right with the next account.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from windtunnel.devices import (
    NOBODY,
    AllocatedBy,
    GpuStatus,
    NodeTopology,
    PodUsage,
    TopologyGpu,
    pod_usage,
)
from windtunnel.gpu.status_updater.claimant import Claimant
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
        self._gpus = topology.gpus
        self._owners = [NOBODY] * len(self._gpus)
        self._usage: list[dict[str, PodUsage]] = [{} for _ in self._gpus]
        self._flaws: list[Flaw] = []
        self._accounted = False

    def run(self, claimants: Sequence[Claimant]) -> Account:
        devices = self._claimed_devices(claimants)
        needs = Counter(
            {
                AllocatedBy(*one.key, container): count
                for one in claimants
                for container, count in one.wants
            }
        )
        self._follow_the_kubelet(claimants, needs)
        self._leave_with_owners(needs, devices)
        self._give_claimed(claimants, devices)
        self._give_free(claimants, needs)
        self._load(claimants, devices)
        return Account(
            topology=msgspec.structs.replace(
                self._topology,
                gpus=tuple(
                    TopologyGpu(gpu.id, GpuStatus(owner, usage), gpu.fault)
                    for gpu, owner, usage in zip(self._gpus, self._owners, self._usage, strict=True)
                ),
            ),
            reservations=tuple(
                (one.key, self._gpus[held].id)
                for one in claimants
                if self._is_reservation(one)
                and one.reserved is None
                and (held := self._first_of(one.key)) is not None
            ),
            flaws=tuple(self._flaws),
            accounted=self._accounted,
        )

    def _claimed_devices(self, claimants: Sequence[Claimant]) -> dict[str, list[int]]:
        """Return which GPUs the claims of each pod, by UID, got."""
        found: dict[str, list[int]] = {}
        index = {gpu.id.casefold(): number for number, gpu in enumerate(self._gpus)}
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
        self, claimants: Sequence[Claimant], needs: Counter[AllocatedBy]
    ) -> None:
        """Where the kubelet says which GPUs it gave, nothing else counts."""
        index = {gpu.id: number for number, gpu in enumerate(self._gpus)}
        for one in claimants:
            for container, device in one.given:
                number, owner = index.get(device), AllocatedBy(*one.key, container)
                if number is not None and self._owners[number] == NOBODY and needs[owner] > 0:
                    needs[owner] -= 1
                    self._owners[number] = owner

    def _leave_with_owners(
        self, needs: Counter[AllocatedBy], devices: dict[str, list[int]]
    ) -> None:
        claimed = {number for numbers in devices.values() for number in numbers}
        for number, gpu in enumerate(self._gpus):
            owner = gpu.status.allocated_by
            taken = number in claimed or self._owners[number] != NOBODY
            if not taken and needs[owner] > 0:
                needs[owner] -= 1
                self._owners[number] = owner

    def _give_claimed(self, claimants: Sequence[Claimant], devices: dict[str, list[int]]) -> None:
        """A claim names its GPUs; the first pod of a shared one is said to have it."""
        sharers: dict[int, list[AllocatedBy]] = {}
        for one in claimants:
            for number in devices.get(one.uid, ()):
                owner = AllocatedBy(*one.key, one.claim_container)
                sharers.setdefault(number, []).append(owner)
        for number, owners in sharers.items():
            had = self._gpus[number].status.allocated_by
            self._owners[number] = had if had in owners else owners[0]

    def _give_free(self, claimants: Sequence[Claimant], needs: Counter[AllocatedBy]) -> None:
        free = [
            number
            for number, owner in enumerate(self._owners)
            if owner == NOBODY and not self._gpus[number].fault
        ]
        free.reverse()
        for one in claimants:
            self._accounted = self._accounted or bool(one.wants)
            short = 0
            for container, _ in one.wants:
                owner = AllocatedBy(*one.key, container)
                while needs[owner] > 0 and free:
                    needs[owner] -= 1
                    self._owners[free.pop()] = owner
                short += needs[owner]
            if short:
                wanted = sum(count for _, count in one.wants)
                self._flaw(
                    one,
                    "InsufficientGPUs",
                    f"{wanted - short} of {wanted} GPUs could be given on node {one.node}, "
                    f"which has {len(self._gpus)}; the others follow when some are free",
                )

    def _load(self, claimants: Sequence[Claimant], devices: dict[str, list[int]]) -> None:
        held: dict[Key, list[int]] = {}
        for number, owner in enumerate(self._owners):
            held.setdefault(Key(owner.namespace, owner.pod), []).append(number)
        for one in claimants:
            numbers = list(devices.get(one.uid, ()))
            if one.wants and not self._is_reservation(one):
                numbers += held.get(one.key, ())
            if one.shared:
                numbers += self._shared_gpu(one, claimants)
            if numbers:
                usage = self._usage_of(one)
                for number in numbers:
                    self._usage[number][one.uid] = usage

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

    def _usage_of(self, one: Claimant) -> PodUsage:
        return pod_usage(
            name=one.key.name,
            running=one.running,
            memory_mib=self._topology.gpu_memory,
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
