from __future__ import annotations

from typing import Any

from tests.apiserver.api import Api, obj

TABLE_OF_PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def test_priority_comes_from_the_class(api: Api, ns: str) -> None:
    never = obj("scheduling.k8s.io/v1", "PriorityClass", "c", value=7, preemptionPolicy="Never")
    api.post(TABLE_OF_PRIORITIES, never)

    spec = api.pod(ns, priorityClassName="c")["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (7, "Never")
    pod = obj("v1", "Pod", "q", spec={"containers": [container()], "priority": 5})
    assert "must not be provided in pod spec" in api.refused("POST", f"{ns}/pods", pod)[1]
    pod["spec"] = {"containers": [container()], "priorityClassName": "x"}
    assert "no PriorityClass with name x was found" in api.refused("POST", f"{ns}/pods", pod)[1]


def test_there_is_one_default_class(api: Api, ns: str) -> None:
    default = obj("scheduling.k8s.io/v1", "PriorityClass", "d", value=3, globalDefault=True)
    api.post(TABLE_OF_PRIORITIES, default)

    assert api.pod(ns)["spec"]["priorityClassName"] == "d"
    second = {**default, "metadata": {"name": "e"}}
    assert "already marked as default" in api.refused("POST", TABLE_OF_PRIORITIES, second)[1]
