"""Leases of played nodes, renewed many in one write and spread evenly over the renewal period.

A lease says that its node is alive. Each node belongs to one of a few slots; a tick renews one
slot, so that a thousand nodes cost a steady trickle instead of a burst. A node is played only while
its lease is ours.

Source: kwok 0.9 (owner reference to the node without controller; renewal after a quarter).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from windtunnel.client import Client, Write
from windtunnel.kernel import Loop, Parked, Ticket
from windtunnel.machinery.errors import AlreadyExists, ApiError, NotFound
from windtunnel.machinery.timestamp import micro_time_text, parse_time
from windtunnel.machinery.tree import Key, Tree, dig

NAMESPACE: Final = "kube-node-lease"
RESOURCE: Final = "leases.coordination.k8s.io"
SLOTS: Final = 40
AT_ONCE: Final = 16
_RETRY_SECONDS: Final = 1.0


class Leases:
    """Keeps the leases of the nodes it is told of.

    Args:
        client: Where the leases live.
        loop: Whose steps renew them.
        identity: Who holds them.
        duration_seconds: After how long without renewal a node counts as dead.
        won: Told the name of each node whose lease has become ours.
    """

    def __init__(
        self,
        client: Client,
        loop: Loop,
        identity: str,
        duration_seconds: int,
        won: Callable[[str], None],
    ) -> None:
        self._client, self._loop = client, loop
        self._identity, self._duration, self._won = identity, duration_seconds, won
        self._uids: dict[str, str] = {}
        self._slots: list[dict[str, None]] = [{} for _ in range(SLOTS)]
        self._slot_of: dict[str, int] = {}
        self._wanted: dict[str, None] = {}
        self._tick: Ticket | None = None
        self._turn = 0
        self._armed = False

    def __contains__(self, node: str) -> bool:
        return node in self._slot_of

    def keep(self, node: str, uid: str) -> None:
        """Win the node's lease and keep it from now on."""
        if self._uids.get(node) == uid:
            return
        self._uids[node] = uid
        self._want(node)

    def leave(self, node: str) -> None:
        """Let the node's lease run out."""
        self._uids.pop(node, None)
        self._wanted.pop(node, None)
        slot = self._slot_of.pop(node, None)
        if slot is not None:
            del self._slots[slot][node]

    def stop(self) -> None:
        """Renew nothing any more."""
        for node in list(self._uids):
            self.leave(node)
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None

    def _want(self, node: str) -> None:
        if node in self._uids:
            self._wanted[node] = None
            if not self._armed:
                self._armed = True
                self._loop.call_soon(self._win)

    def _win(self) -> None:
        """Create the leases that are wanted, some at a time."""
        self._armed = False
        names = list(self._wanted)[:AT_ONCE]
        for name in names:
            del self._wanted[name]
        if self._wanted:
            self._armed = True
            self._loop.call_soon(self._win)
        writes = [
            Write("create", RESOURCE, Key(NAMESPACE, name), self._lease(name)) for name in names
        ]
        for name, outcome in zip(names, self._client.write_many(writes), strict=True):
            if outcome is None:
                self._keep(name)
            elif isinstance(outcome, AlreadyExists):
                self._take_over(name)
            else:
                self._retry(name, outcome)

    def _take_over(self, name: str) -> None:
        """Take a lease that exists, unless another holder is alive."""
        lease = self._client.get(RESOURCE, Key(NAMESPACE, name))
        if lease is None:
            self._want(name)
            return
        now = self._loop.clock.now()
        wait = self._held_by_another(lease, now)
        if wait > 0:
            again = min(max(wait, _RETRY_SECONDS), self._duration / 4)
            self._loop.call_after(again, lambda: self._want(name))
            return
        moved = dig(lease, "spec", "holderIdentity") != self._identity
        spec = self._spec(now)
        if moved:
            spec["leaseTransitions"] = int(dig(lease, "spec", "leaseTransitions") or 0) + 1
        owners = self._lease(name)["metadata"]["ownerReferences"]
        patch = {"metadata": {"ownerReferences": owners}, "spec": spec}
        try:
            self._client.patch(RESOURCE, Key(NAMESPACE, name), patch)
        except (ApiError, Parked) as refusal:
            self._retry(name, refusal)
        else:
            self._keep(name)

    def _held_by_another(self, lease: Tree, now: float) -> float:
        """Return for how many seconds another holder keeps the lease; 0 for not at all."""
        holder, renewed = dig(lease, "spec", "holderIdentity"), dig(lease, "spec", "renewTime")
        if not holder or holder in (self._identity, lease["metadata"]["name"]) or not renewed:
            return 0.0
        seconds = float(dig(lease, "spec", "leaseDurationSeconds") or 0)
        return max(parse_time(str(renewed)) + seconds - now, 0.0)

    def _retry(self, name: str, outcome: Exception) -> None:
        if isinstance(outcome, Parked):
            outcome.resume(lambda: self._want(name))
        else:
            self._loop.call_after(_RETRY_SECONDS, lambda: self._want(name))

    def _keep(self, name: str) -> None:
        if name not in self._uids:
            return
        if name not in self._slot_of:
            slot = min(range(SLOTS), key=lambda number: len(self._slots[number]))
            self._slots[slot][name] = None
            self._slot_of[name] = slot
        if self._tick is None:
            self._tick = self._loop.call_after(self._duration / 4 / SLOTS, self._renew_slot)
        self._won(name)

    def _renew_slot(self) -> None:
        self._tick = self._loop.call_after(self._duration / 4 / SLOTS, self._renew_slot)
        slot, self._turn = self._slots[self._turn], (self._turn + 1) % SLOTS
        names = list(slot)
        for start in range(0, len(names), AT_ONCE):
            self._loop.call_soon(self._renewal(names[start : start + AT_ONCE]))

    def _renewal(self, names: list[str]) -> Callable[[], None]:
        def renew() -> None:
            spec = self._spec(self._loop.clock.now())
            writes = [
                Write("patch", RESOURCE, Key(NAMESPACE, name), {"spec": dict(spec)})
                for name in names
                if name in self._slot_of
            ]
            for write, outcome in zip(writes, self._client.write_many(writes), strict=True):
                if isinstance(outcome, NotFound):
                    self._want(write.key.name)

        return renew

    def _spec(self, now: float) -> Tree:
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": self._duration,
            "renewTime": micro_time_text(now),
        }

    def _lease(self, name: str) -> Tree:
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": self._uids[name]}
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]},
            "spec": self._spec(self._loop.clock.now()),
        }
