"""Played nodes: watches nodes and pods, and hands to the players what is theirs.

A node is played while it carries the annotation and its lease is ours; a pod while its node is.
Pods of nodes that are not (yet) played are only remembered by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from windtunnel.client import Change, Client
from windtunnel.kernel import Chance, Loop
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.played.addresses import Addresses
from windtunnel.nodes.played.leases import Leases
from windtunnel.nodes.played.player import Names, Player
from windtunnel.nodes.played.settings import Settings
from windtunnel.nodes.played.stages import Stage, load_stages


class _Spec(msgspec.Struct, gc=False):
    node_name: str = msgspec.field(name="nodeName", default="")


class _Status(msgspec.Struct, gc=False):
    pod_ip: str = msgspec.field(name="podIP", default="")


class _Pod(msgspec.Struct, gc=False):
    """What decides whose pod it is, decoded without the rest."""

    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


class _NodeMetadata(msgspec.Struct):
    uid: str = ""
    annotations: dict[str, str] = {}


class _Address(msgspec.Struct):
    type: str = ""
    address: str = ""


class _NodeStatus(msgspec.Struct):
    addresses: list[_Address] = []


class _Node(msgspec.Struct):
    metadata: _NodeMetadata
    status: _NodeStatus = msgspec.field(default_factory=_NodeStatus)


_pod = msgspec.json.Decoder(_Pod)
_node = msgspec.json.Decoder(_Node)


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
        self._bodies: dict[str, bytes] = {}
        """The newest state of each node that is marked for us."""
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
        node = _node.decode(change.body)
        ours = node.metadata.annotations.get(self._settings.annotation) == self._settings.value
        if change.type == "DELETED" or not ours:
            self._nodes.drop(change.key)
            self._leases.leave(name)
            self._bodies.pop(name, None)
            self._host_ips.pop(name, None)
            return
        self._bodies[name] = change.body
        self._host_ips[name] = next(
            (each.address for each in node.status.addresses if each.type == "InternalIP"), ""
        )
        self._leases.keep(name, node.metadata.uid)
        if name in self._leases:
            self._nodes.take(change.key, change.body)

    def _won(self, name: str) -> None:
        body = self._bodies.get(name)
        if body is not None:
            self._nodes.take(Key("", name), body)
        for key in list(self._pods_on.get(name, ())):
            self._pods.take(key)

    def _pod_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._stops.append(self._client.watch("nodes", self._node_changed))
            return
        key = change.key
        if change.type == "DELETED":
            self._pods.drop(key)
            self._forget(key)
            return
        pod = _pod.decode(change.body)
        node = pod.spec.node_name
        if pod.status.pod_ip:
            self.addresses.note(key, pod.status.pod_ip)
        if not node:
            return
        if key not in self._node_of:
            self._node_of[key] = node
            self._pods_on.setdefault(node, {})[key] = None
        if node in self._leases:
            self._pods.take(key, change.body)

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

    def __init__(self, played: PlayedNodes) -> None:
        settings = played.settings
        self._names: Names = {
            "now": played.now,
            "nodeIP": lambda: settings.node_ip,
            "version": lambda: settings.version,
        }

    def names(self, tree: Tree) -> Names:
        return self._names


class _PodCast:
    """What stages of pods may name."""

    resource = "pods"

    def __init__(self, played: PlayedNodes) -> None:
        self._played = played

    def names(self, tree: Tree) -> Names | None:
        node = dig(tree, "spec", "nodeName")
        if not node or not self._played.plays(node):
            return None
        pod_ip = partial(self._pod_ip, tree, node)
        host_ip = partial(self._played.host_ip, node)
        return {
            "now": self._played.now,
            "hostIP": host_ip,
            "hostIPs": lambda: [{"ip": host_ip()}],
            "podIP": pod_ip,
            "podIPs": lambda: [{"ip": pod_ip()}],
        }

    def _pod_ip(self, tree: Tree, node: str) -> Any:
        if dig(tree, "spec", "hostNetwork"):
            return self._played.host_ip(node)
        metadata = tree["metadata"]
        return self._played.addresses.give(Key(metadata["namespace"], metadata["name"]))
