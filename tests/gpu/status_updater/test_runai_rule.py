"""Tests of the rule for Run:ai's metrics."""

from __future__ import annotations

from tests.gpu.operated import Operated

from windtunnel.machinery.tree import Key, Tree

RULES = "prometheusrules.monitoring.coreos.com"
KEY = Key("runai", "fake-gpu-operator-kwok-dcgm")


def kind() -> Tree:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "prometheusrules", "kind": "PrometheusRule", "singular": "prometheusrule"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": RULES},
        "spec": {
            "group": "monitoring.coreos.com",
            "scope": "Namespaced",
            "names": names | {"listKind": "PrometheusRuleList"},
            "versions": [version],
        },
    }


def test_the_rule_is_made_when_both_are_here_and_again_when_it_is_gone() -> None:
    world = Operated()
    world.updater.stop()
    world.begin(runai_seconds=1.0)
    world.create("namespaces", "runai", "")
    world.run(2)
    world.client.create("customresourcedefinitions.apiextensions.k8s.io", kind())
    world.run(5)

    rule = world.client.get(RULES, KEY)
    assert rule is not None
    records = [one["record"] for one in rule["spec"]["groups"][0]["rules"]]
    assert records[0] == "runai_dcgm_gpu_utilization"

    world.client.patch(RULES, KEY, {"spec": {"groups": []}})
    world.run(5)
    rule = world.client.get(RULES, KEY)
    assert rule is not None
    assert rule["spec"]["groups"] == []

    world.client.delete(RULES, KEY)
    world.run(5)
    assert world.client.get(RULES, KEY) is not None
