"""Pods can be created from the first moment, unless somebody else's controllers see to that."""

from __future__ import annotations

import pytest
from tests.apiserver.api import Api

from windtunnel.apiserver import LocalClient
from windtunnel.assembly.furnish import provide_account, provide_runtime_classes
from windtunnel.assembly.virtual import Virtual
from windtunnel.machinery.tree import Key


@pytest.mark.parametrize(
    ("without", "accounts"),
    [((), 1), (("scheduler", "nodes"), 1), (("controllers",), 0)],
    ids=lambda value: str(value),
)
def test_the_account_is_there_once_where_the_controllers_are_ours(
    without: tuple[str, ...], accounts: int
) -> None:
    client = LocalClient(Api().core, "system:windtunnel", "windtunnel")

    for _ in range(2):  # the second time is a restart
        provide_account(client, frozenset(without))

    assert (client.get("serviceaccounts", Key("default", "default")) is not None) == bool(accounts)
    assert len(client.list("serviceaccounts")) == accounts


def test_a_node_brings_its_runtime_classes_once() -> None:
    client = Virtual().client("user")

    provide_runtime_classes(client)
    provide_runtime_classes(client)

    classes = client.list("runtimeclasses.node.k8s.io")
    assert len(classes) == 10
    assert {each["metadata"]["name"] for each in classes} == {each["handler"] for each in classes}
