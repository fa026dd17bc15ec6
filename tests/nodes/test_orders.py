"""Orders for nodes become nodes, once, and go again with their pool's document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from windtunnel.client.http import HttpClient
from windtunnel.devices import POOL_NAMESPACE, config_map_name
from windtunnel.errors import UsageError
from windtunnel.machinery.errors import AlreadyExists
from windtunnel.machinery.tree import Key
from windtunnel.nodes import PoolOrder
from windtunnel.nodes.orders import (
    add_nodes,
    pool_nodes,
    provide_pool,
    remove_document,
    remove_nodes,
)

POOL = "h100"
ORDER = PoolOrder(name=POOL, count=2, gpus=8)


def names(client: HttpClient) -> list[str]:
    return [node["metadata"]["name"] for node in pool_nodes(client, POOL)]


def document(client: HttpClient) -> Any:
    return client.get("configmaps", Key(POOL_NAMESPACE, config_map_name(POOL)))


@pytest.fixture
def client(http_client: HttpClient) -> Iterator[HttpClient]:
    yield http_client
    for node in pool_nodes(http_client):
        http_client.delete("nodes", Key("", node["metadata"]["name"]))
    remove_document(http_client, POOL)


def test_nodes_are_added_after_those_that_are_there(client: HttpClient) -> None:
    told: list[int] = []

    assert add_nodes(client, ORDER, told.append) == ["h100-0", "h100-1"]
    assert add_nodes(client, ORDER) == ["h100-2", "h100-3"]
    assert sum(told) == 2
    assert document(client)


def test_a_pool_of_the_operator_keeps_its_gpus(client: HttpClient) -> None:
    provide_pool(client, ORDER)
    own = document(client)
    remove_document(client, POOL)
    metadata = {"name": "topology", "namespace": POOL_NAMESPACE}
    client.create("configmaps", {"metadata": metadata, "data": own["data"]})

    with pytest.raises(UsageError, match="exists and its nodes have other GPUs"):
        add_nodes(client, PoolOrder(name=POOL, count=1, gpus=4))

    assert add_nodes(client, ORDER) == ["h100-2", "h100-3"]
    assert document(client) is None
    client.delete("configmaps", Key(POOL_NAMESPACE, "topology"))


def test_a_pool_whose_nodes_cannot_be_made_leaves_nothing(client: HttpClient) -> None:
    client.create("nodes", {"metadata": {"name": "h100-0"}})

    with pytest.raises(AlreadyExists):
        add_nodes(client, PoolOrder(name=POOL, count=1, gpus=8))

    assert document(client) is None
    client.delete("nodes", Key("", "h100-0"))


def test_nodes_that_run_containers_are_not_removed(client: HttpClient) -> None:
    add_nodes(client, ORDER)
    client.create("nodes", {"metadata": {"name": "alive"}})

    with pytest.raises(UsageError, match="node alive runs containers"):
        remove_nodes(client, ["h100-0", "alive"])

    assert names(client) == ["h100-0", "h100-1"]
    client.delete("nodes", Key("", "alive"))


def test_a_pool_that_is_provided_twice_is_there_once(client: HttpClient) -> None:
    assert provide_pool(client, ORDER) == 2
    assert provide_pool(client, ORDER) == 0
    assert provide_pool(client, PoolOrder(name=POOL, count=3, gpus=8)) == 1
    assert names(client) == ["h100-0", "h100-1", "h100-2"]


def test_a_pool_has_one_sort_of_nodes(client: HttpClient) -> None:
    add_nodes(client, ORDER)

    with pytest.raises(UsageError, match="pool h100 exists and its nodes have other GPUs"):
        add_nodes(client, PoolOrder(name=POOL, count=1, gpus=4))


def test_the_document_goes_with_the_last_node(client: HttpClient) -> None:
    add_nodes(client, ORDER)

    assert remove_nodes(client, ["h100-0"]) == 1
    assert document(client)
    assert remove_nodes(client, ["h100-1"]) == 1
    assert document(client) is None


def test_an_unknown_name_removes_nothing(client: HttpClient) -> None:
    add_nodes(client, ORDER)

    with pytest.raises(UsageError, match="there is no node h100-9"):
        remove_nodes(client, ["h100-0", "h100-9"])

    assert names(client) == ["h100-0", "h100-1"]
