"""Every pod that asks for GPUs, and on which node: kept by the changes of pods."""

from __future__ import annotations

import msgspec

from windtunnel.client import Change
from windtunnel.gpu.status_updater.claimant import AskingPod, Claimant, claimant_of
from windtunnel.machinery.tree import Key

_decoder = msgspec.json.Decoder(AskingPod)


class Claimants:
    """The pods that ask for GPUs.

    Args:
        reservation_namespace: Where pods hold GPUs for others.
    """

    def __init__(self, reservation_namespace: str) -> None:
        self._reservation_namespace = reservation_namespace
        self._found: dict[Key, Claimant] = {}
        self._by_node: dict[str, dict[Key, Claimant]] = {}

    def on(self, node: str) -> list[Claimant]:
        """Return those on a node."""
        return list(self._by_node.get(node, {}).values())

    def take(self, change: Change) -> tuple[Claimant | None, Claimant | None]:
        """Take in a change of a pod; return what it asked for before, and what it asks for."""
        before, after = self._found.pop(change.key, None), None
        if change.type != "DELETED":
            after = claimant_of(_decoder.decode(change.body), self._reservation_namespace)
        if before is not None and (after is None or after.node != before.node):
            self._by_node[before.node].pop(change.key, None)
        if after is not None:
            self._found[change.key] = after
            self._by_node.setdefault(after.node, {})[change.key] = after
        return before, after

    def nodes_of(self, namespace: str, claim: str) -> list[str]:
        """Return the node of each pod that has a claim of this name."""
        return [
            one.node
            for one in self._found.values()
            if one.key.namespace == namespace and claim in one.claims
        ]
