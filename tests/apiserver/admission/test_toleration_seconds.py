from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import Api, obj

from windtunnel.apiserver import DEFAULT_PLUGINS

GPU = "nvidia.com/gpu"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def test_pods_tolerate_sick_nodes_for_a_while(api: Api, ns: str) -> None:
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 9,
           "effect": "NoExecute"}  # fmt: skip

    found = api.pod(ns, tolerations=[own])["spec"]["tolerations"]
    assert [each["tolerationSeconds"] for each in found] == [9, 300]
    everything = [{"operator": "Exists"}]
    assert api.pod(ns, "q", tolerations=everything)["spec"]["tolerations"] == everything


def test_a_new_node_is_not_ready(api: Api) -> None:
    node = api.post("/api/v1/nodes", obj("v1", "Node", "n"))

    assert node["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize(("switched_on", "count"), [(False, 2), (True, 3)])
def test_extended_resources_are_tolerated_on_demand(switched_on: bool, count: int) -> None:
    plugins = DEFAULT_PLUGINS | {"ExtendedResourceToleration"} if switched_on else DEFAULT_PLUGINS
    api = Api(admission_plugins=plugins)
    path = api.namespace()

    spec = api.pod(path, containers=[container(limits={GPU: 1})])["spec"]

    assert len(spec["tolerations"]) == count
    own = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    assert (own in spec["tolerations"]) is switched_on


def test_a_plugin_that_is_off_does_nothing() -> None:
    api = Api(admission_plugins=DEFAULT_PLUGINS - {"DefaultTolerationSeconds", "ServiceAccount"})
    path = api.namespace()

    spec = api.pod(path, containers=[container()])["spec"]

    assert "tolerations" not in spec
    assert "serviceAccountName" not in spec
