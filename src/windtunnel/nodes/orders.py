"""Putting an order for nodes into a cluster through any client; for ``up`` and ``nodes``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from windtunnel.client import Client, Write
from windtunnel.devices import (
    PLAYED,
    POOL_LABEL,
    POOL_NAMESPACE,
    TOPOLOGY_NAME,
    config_map_name,
    parse_pools,
    pool_of,
)
from windtunnel.errors import UsageError
from windtunnel.machinery.errors import AlreadyExists, ApiError, NotFound
from windtunnel.machinery.tree import Key, Tree, dig, key_of
from windtunnel.nodes.played.trees import node_trees, pool_config_map
from windtunnel.nodes.pools import PoolOrder

_AT_ONCE: Final = 200


def _silent(_: int) -> None:
    return None


def pool_nodes(client: Client, pool: str = "") -> list[Tree]:
    """Return the nodes of one pool, or of all pools, in key order."""
    return client.list("nodes", label_selector=f"{POOL_LABEL}={pool}" if pool else POOL_LABEL)


def is_played(node: Tree) -> bool:
    """Whether nothing runs on a node: what goes on there is played."""
    return PLAYED in (dig(node, "metadata", "annotations") or ())


def add_nodes(client: Client, order: PoolOrder, done: Callable[[int], None] = _silent) -> list[str]:
    """Add ``order.count`` nodes to the pool, which is made if it is not there.

    Args:
        client: Where to.
        order: A checked order.
        done: Told how many more nodes there are.

    Raises:
        UsageError: the pool exists and its nodes have other GPUs.
    """
    new = _provide_document(client, order)
    taken = [key_of(node).name for node in pool_nodes(client, order.name)]
    nodes = [Write("create", "nodes", key_of(node), node) for node in node_trees(order, taken)]
    try:
        _write_all(client, nodes, done)
    except ApiError:
        if new and not pool_nodes(client, order.name):
            remove_document(client, order.name)
        raise
    return [node.key.name for node in nodes]


def provide_pool(client: Client, order: PoolOrder) -> int:
    """See to it that the pool has at least ``order.count`` nodes; returns how many were added."""
    missing = order.count - len(pool_nodes(client, order.name))
    if missing <= 0:
        return 0
    return len(add_nodes(client, _of_size(order, missing)))


def remove_nodes(client: Client, names: list[str], done: Callable[[int], None] = _silent) -> int:
    """Remove played nodes by name, and the documents of pools that are empty then.

    Raises:
        UsageError: a name is no node's, or that of one with a kubelet; nothing is removed.
    """
    nodes = {key_of(node).name: node for node in client.list("nodes")}
    unknown = next((name for name in names if name not in nodes), None)
    if unknown is not None:
        raise UsageError(f"there is no node {unknown or repr(unknown)}")
    alive = next(
        (name for name in names if not is_played(nodes[name])),
        None,
    )
    if alive is not None:
        raise UsageError(
            f"node {alive} runs containers, and would register again; "
            "`windtunnel up --without kubelet` starts a cluster without it"
        )
    doomed = [Write("delete", "nodes", Key("", name), {}) for name in names]
    _write_all(client, doomed, done)
    touched = {pool_of(nodes.pop(name)) for name in names}
    left = {pool_of(node) for node in nodes.values()}
    for pool in sorted(touched - left - {""}):
        remove_document(client, pool)
    return len(names)


def remove_document(client: Client, pool: str) -> bool:
    """Remove the ConfigMap that describes a pool; returns whether there was one."""
    try:
        client.delete("configmaps", Key(POOL_NAMESPACE, config_map_name(pool)))
    except NotFound:
        return False
    return True


def _write_all(client: Client, writes: Sequence[Write], done: Callable[[int], None]) -> None:
    """Do writes that do not depend on each other, a few hundred at a time.

    Raises:
        Exception: what came of the first that was refused.
    """
    for begin in range(0, len(writes), _AT_ONCE):
        some = writes[begin : begin + _AT_ONCE]
        for refusal in client.write_many(some, in_order=False):
            if refusal is not None:
                raise refusal
        done(len(some))


def _of_size(order: PoolOrder, count: int) -> PoolOrder:
    return msgspec.structs.replace(order, count=count)


def _provide_document(client: Client, order: PoolOrder) -> bool:
    """See to it that the pool is declared, by its own document or the operator's; say if it is new.

    Raises:
        UsageError: it is declared with other GPUs.
    """
    wanted = pool_config_map(order)
    for name in (key_of(wanted).name, TOPOLOGY_NAME):
        there = client.get("configmaps", Key(POOL_NAMESPACE, name))
        declared = parse_pools(there).get(order.name) if there is not None else None
        if declared is not None:
            if declared != parse_pools(wanted)[order.name]:
                raise UsageError(
                    f"pool {order.name} exists and its nodes have other GPUs; choose another --pool"
                )
            return False
    if client.get("namespaces", Key("", POOL_NAMESPACE)) is None:
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": POOL_NAMESPACE},
        }
        with suppress(AlreadyExists):
            client.create("namespaces", namespace)
    client.create("configmaps", wanted)
    return True
