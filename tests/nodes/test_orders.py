"""Orders for nodes become nodes, once, and go again with their pool's document."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from windtunnel.client.http import HttpClient
from windtunnel.devices import POOL_NAMESPACE, config_map_name
from windtunnel.errors import UsageError
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


def document(client: HttpClient) -> object:
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
