"""Played nodes: watches nodes and pods, and hands to the players what is theirs.

A node is played while it carries the annotation and its lease is ours; a pod while its node is.
Pods of nodes that are not (yet) played are only remembered by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windtunnel.client import Change, Client
from windtunnel.kernel import Chance, Loop
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.addresses import Addresses
from windtunnel.nodes.played.leases import Leases
from windtunnel.nodes.played.player import Names, Player
from windtunnel.nodes.played.settings import Settings
from windtunnel.nodes.played.stages import Stage, load_stages


class PlayedNodes:
    """Plays every node that is marked for it, and the pods there."""

    def __init__(
        self,
        client: Client,
        loop: Loop,
        settings: Settings | None = None,
        stages: tuple[Stage, ...] | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._client, self._loop = client, loop
        self._settings = settings or Settings()
        draw = (chance or Chance(0)).stream("nodes/played").random
        stages = load_stages() if stages is None else stages
        self._nodes = Player(client, loop, _NodeCast(self), stages, draw)
        self._pods = Player(client, loop, _PodCast(self), stages, draw)
        self._leases = Leases(
            client,
            loop,
            self._settings.identity,
            self._settings.lease_duration_seconds,
            self._won,
        )
        self.addresses = Addresses(self._settings.cidr)
        self._marked: set[str] = set()
        """The nodes that are marked for us, whoever holds their lease."""
        self._host_ips: dict[str, str] = {}
        self._pods_on: dict[str, dict[Key, None]] = {}
        self._node_of: dict[Key, str] = {}
        self._stops: list[Callable[[], None]] = []
        self._now_text = (-1, "")

    def start(self) -> None:
        """Begin to watch; nodes only once every pod is known, and so every address in use."""
        self._stops.append(self._client.watch("pods", self._pod_changed))

    def stop(self) -> None:
        """Watch and renew nothing any more."""
        for stop in self._stops:
            stop()
        self._stops.clear()
        self._leases.stop()

    def now(self) -> str:
        """Return the present second as the API writes it."""
        second = int(self._loop.clock.now())
        if second != self._now_text[0]:
            self._now_text = (second, time_text(second))
        return self._now_text[1]

    @property
    def settings(self) -> Settings:
        """How nodes are played."""
        return self._settings

    def host_ip(self, node: str) -> str:
        """Return a node's address."""
        return self._host_ips.get(node) or self._settings.node_ip

    def plays(self, node: str) -> bool:
        """Say whether the node is ours to play now."""
        return node in self._leases

    def _node_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        name = change.key.name
        seen = self._nodes.glance(change)
        mark = dig(seen, "metadata", "annotations", self._settings.annotation)
        if change.type == "DELETED" or mark != self._settings.value:
            self._nodes.drop(change.key)
            self._leases.leave(name)
            self._marked.discard(name)
            self._host_ips.pop(name, None)
            return
        self._marked.add(name)
        self._host_ips[name] = next(
            (
                each.get("address", "")
                for each in dig(seen, "status", "addresses") or ()
                if each.get("type") == "InternalIP"
            ),
            "",
        )
        self._leases.keep(name, seen["metadata"]["uid"])
        if name in self._leases:
            self._nodes.take(change.key, change.body, seen)

    def _won(self, name: str) -> None:
        if name in self._marked:
            self._nodes.read(Key("", name))
        for key in self._pods_on.get(name, ()):
            self._pods.read(key)

    def _pod_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._stops.append(self._client.watch("nodes", self._node_changed))
            return
        key = change.key
        if change.type == "DELETED":
            self._pods.drop(key)
            self._forget(key)
            return
        if b'"nodeName"' not in change.body:
            return  # nobody's yet; most changes of a waiting pod end here
        seen = self._pods.glance(change)
        address = dig(seen, "status", "podIP")
        if address:
            self.addresses.note(key, address)
        node = dig(seen, "spec", "nodeName")
        if not node:
            return
        if key not in self._node_of:
            self._node_of[key] = node
            self._pods_on.setdefault(node, {})[key] = None
        if node in self._leases:
            self._pods.take(key, change.body, seen)

    def _forget(self, key: Key) -> None:
        self.addresses.free(key)
        node = self._node_of.pop(key, None)
        if node is not None:
            pods = self._pods_on[node]
            del pods[key]
            if not pods:
                del self._pods_on[node]


class _NodeCast:
    """What stages of nodes may name."""

    resource = "nodes"
    paths: tuple[str, ...] = ("metadata.uid", "metadata.annotations", "status.addresses")

    def __init__(self, played: PlayedNodes) -> None:
        self._played = played

    def names(self, tree: Tree) -> Names:
        played = self._played
        settings = played.settings
        return {"now": played.now(), "nodeIP": settings.node_ip, "version": settings.version}


class _PodCast:
    """What stages of pods may name."""

    resource = "pods"
    paths: tuple[str, ...] = ("spec.nodeName", "status.podIP")

    def __init__(self, played: PlayedNodes) -> None:
        self._played = played

    def names(self, tree: Tree) -> Names | None:
        node = dig(tree, "spec", "nodeName")
        if not node or not self._played.plays(node):
            return None
        return _PodNames(self._played, tree, node)


class _PodNames(dict[str, Any]):
    """The names of one pod; an address is given when a stage asks for it, not before."""

    def __init__(self, played: PlayedNodes, tree: Tree, node: str) -> None:
        super().__init__(now=played.now(), hostIP=played.host_ip(node))
        self._played, self._tree = played, tree

    def __missing__(self, name: str) -> Any:
        match name:
            case "podIP":
                address = self[name] = self._pod_ip()
                return address
            case "podIPs":
                return [{"ip": self["podIP"]}]
            case "hostIPs":
                return [{"ip": self["hostIP"]}]
        raise KeyError(name)

    def _pod_ip(self) -> str:
        tree = self._tree
        if dig(tree, "spec", "hostNetwork"):
            return str(self["hostIP"])
        metadata = tree["metadata"]
        return self._played.addresses.give(Key(metadata["namespace"], metadata["name"]))
