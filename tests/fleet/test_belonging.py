"""Selectors of services and controllers that mean a pod."""

from __future__ import annotations

from tests.build import pod

from windtunnel.fleet.belonging import Belonging
from windtunnel.machinery.tree import Tree, key_of

OWNER = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": True}]


def service(selector: Tree | None, name: str = "s") -> Tree:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": selector}}


def replica_set() -> Tree:
    selector = {"matchLabels": {"hash": "1"}}
    return {"metadata": {"name": "r", "namespace": "default"}, "spec": {"selector": selector}}


def test_nothing_known_selects_everything() -> None:
    assert Belonging().selector_of(pod(labels={"app": "x"})).empty


def test_matching_services_and_the_owner_are_merged() -> None:
    belonging = Belonging()
    belonging.put("services", service({"app": "x"}))
    belonging.put("services", service({"app": "other"}, "t"))
    belonging.put("replicasets.apps", replica_set())
    one = pod(labels={"app": "x", "hash": "1"}, metadata={"ownerReferences": OWNER})

    selector = belonging.selector_of(one)

    assert selector.keys == {"app", "hash"}
    assert selector.matches({"app": "x", "hash": "1"})
    assert not selector.matches({"app": "x", "hash": "2"})


def test_a_service_without_selector_means_nobody() -> None:
    belonging = Belonging()
    belonging.put("services", service(None))

    assert belonging.selector_of(pod(labels={"app": "x"})).empty


def test_a_service_that_is_gone_is_forgotten() -> None:
    belonging = Belonging()
    belonging.put("services", service({"app": "x"}))
    belonging.remove("services", key_of(service({})))

    assert belonging.selector_of(pod(labels={"app": "x"})).empty
