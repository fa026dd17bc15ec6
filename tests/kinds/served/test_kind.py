from __future__ import annotations

from windtunnel.kinds import Catalogue, builtin_kinds

CATALOGUE = Catalogue(builtin_kinds())


def test_a_kind_names_itself_as_messages_and_stores_do() -> None:
    pods, deployments = CATALOGUE.by_resource("pods"), CATALOGUE.by_resource("deployments.apps")

    assert (pods.api_version, pods.resource, pods.store) == ("v1", "pods", "pods")
    assert (deployments.api_version, deployments.resource) == ("apps/v1", "deployments.apps")


def test_both_groups_of_events_share_one_store() -> None:
    assert (
        CATALOGUE.by_resource("events.events.k8s.io").store == CATALOGUE.by_resource("events").store
    )
