"""Leases of played nodes, renewed many in one write and spread evenly over the renewal period.

A lease says that its node is alive. Each node belongs to one of a few slots; a tick renews one
slot, so that a thousand nodes cost a steady trickle instead of a burst. A node is played only while
its lease is ours.

Source: kwok 0.9 (owner reference to the node without controller; renewal after a quarter).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from windtunnel.client import Client, Write
from windtunnel.kernel import DONE, Line, Loop, Result, Settled, Ticket
from windtunnel.machinery.errors import AlreadyExists, NotFound
from windtunnel.machinery.timestamp import micro_time_text, parse_time
from windtunnel.machinery.tree import Key, Tree, dig

NAMESPACE: Final = "kube-node-lease"
RESOURCE: Final = "leases.coordination.k8s.io"
SLOTS: Final = 40
AT_ONCE: Final = 16
_PATIENCE_SECONDS: Final = 1.0


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
        # A lease of no time would be renewed without end, so that nothing else has its turn.
        self._identity, self._duration, self._won = identity, max(duration_seconds, 1), won
        self._uids: dict[str, str] = {}
        self._slots: list[dict[str, None]] = [{} for _ in range(SLOTS)]
        self._slot_of: dict[str, int] = {}
        self._wanted: Line[str] = Line(loop, "leases of played nodes", self._win, at_once=AT_ONCE)
        self._due: Line[str] = Line(loop, "renewal of leases", self._renew, at_once=AT_ONCE)
        self._tick: Ticket | None = None
        self._turn = 0

    def __contains__(self, node: str) -> bool:
        return node in self._slot_of

    def keep(self, node: str, uid: str) -> None:
        """Win the node's lease and keep it from now on."""
        if self._uids.get(node) == uid:
            return
        self._uids[node] = uid
        self._wanted.add(node)

    def leave(self, node: str) -> None:
        """Let the node's lease run out."""
        self._uids.pop(node, None)
        self._wanted.drop(node)
        self._due.drop(node)
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

    def _win(self, names: Sequence[str]) -> list[Settled]:
        """Create the leases that are wanted, or take over those that exist."""
        writes = [
            Write("create", RESOURCE, Key(NAMESPACE, name), self._lease(name)) for name in names
        ]
        outcomes: list[Settled] = []
        for name, refusal in zip(names, self._client.write_many(writes), strict=True):
            if refusal is None:
                self._keep(name)
                outcomes.append(DONE)
            elif isinstance(refusal, AlreadyExists):
                outcomes.append(self._take_over(name))
            else:
                outcomes.append(refusal)
        return outcomes

    def _take_over(self, name: str) -> Result:
        """Take a lease that exists, unless another holder is alive."""
        lease = self._client.get(RESOURCE, Key(NAMESPACE, name))
        if lease is None:
            return Result(again_in=0)
        now = self._loop.clock.now()
        wait = self._held_by_another(lease, now)
        if wait > 0:
            return Result(again_in=min(max(wait, _PATIENCE_SECONDS), self._duration / 4))
        moved = dig(lease, "spec", "holderIdentity") != self._identity
        spec = self._spec(now)
        if moved:
            spec["leaseTransitions"] = int(dig(lease, "spec", "leaseTransitions") or 0) + 1
        owners = self._lease(name)["metadata"]["ownerReferences"]
        patch = {"metadata": {"ownerReferences": owners}, "spec": spec}
        self._client.patch(RESOURCE, Key(NAMESPACE, name), patch)
        self._keep(name)
        return DONE

    def _held_by_another(self, lease: Tree, now: float) -> float:
        """Return for how many seconds another holder keeps the lease; 0 for not at all."""
        holder, renewed = dig(lease, "spec", "holderIdentity"), dig(lease, "spec", "renewTime")
        if not holder or holder in (self._identity, lease["metadata"]["name"]) or not renewed:
            return 0.0
        seconds = float(dig(lease, "spec", "leaseDurationSeconds") or 0)
        return max(parse_time(str(renewed)) + seconds - now, 0.0)

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
        for name in slot:
            self._due.add(name)

    def _renew(self, names: Sequence[str]) -> list[Settled]:
        spec = self._spec(self._loop.clock.now())
        writes = [
            Write("patch", RESOURCE, Key(NAMESPACE, name), {"spec": dict(spec)}) for name in names
        ]
        outcomes: list[Settled] = []
        for name, refusal in zip(names, self._client.write_many(writes), strict=True):
            if isinstance(refusal, NotFound):
                self._wanted.add(name)
                refusal = None
            outcomes.append(refusal or DONE)
        return outcomes

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
