from __future__ import annotations

import pytest
from tests.world import World

from windtunnel.client.http import HttpClient
from windtunnel.client.served import Served, read_scopes, read_served
from windtunnel.machinery.tree import encode

DOCUMENT = {
    "items": [
        {
            "metadata": {"name": "apps"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "deployments",
                            "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                            "scope": "Namespaced",
                            "verbs": ["get", "list"],
                            "subresources": [{"subresource": "scale", "verbs": ["get"]}],
                        }
                    ],
                }
            ],
        }
    ]
}


def test_discovery_is_read() -> None:
    (served,) = read_served(encode(DOCUMENT))

    assert served == Served(
        "deployments.apps", "apps/v1", "Deployment", True, frozenset({"get", "list"}), scalable=True
    )


def test_a_version_says_what_is_in_namespaces() -> None:
    document = {"resources": [{"name": "pods", "namespaced": True, "kind": "Pod"}]}

    assert read_scopes(encode(document)) == {"pods": True}


def test_another_document_is_refused() -> None:
    with pytest.raises(ValueError):
        read_served(b"404 page not found")


def test_both_clients_find_the_same(world: World, http_client: HttpClient) -> None:
    assert set(world.client.served()) <= set(http_client.served())
