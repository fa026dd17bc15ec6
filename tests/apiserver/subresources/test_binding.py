from __future__ import annotations

from tests.apiserver.api import Api, obj

TARGET = {"apiVersion": "v1", "kind": "Node", "name": "n1"}


def bind(api: Api, path: str, **fields: object) -> tuple[int, str]:
    body = {**obj("v1", "Binding", "p"), "target": TARGET, **fields}
    status, tree = api.send("POST", f"{path}/pods/p/binding", body)
    return status, tree.get("message", "")


def test_a_pod_is_given_to_a_node_once(api: Api, ns: str) -> None:
    api.pod(ns)

    assert bind(api, ns) == (201, "")
    pod = api.get(f"{ns}/pods/p")
    assert pod["spec"]["nodeName"] == "n1"
    (condition,) = pod["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["lastProbeTime"]) == (
        "PodScheduled",
        "True",
        None,
    )
    code, text = bind(api, ns)
    assert code == 409
    assert 'pod p is already assigned to node "n1"' in text


def test_labels_come_with_the_binding_and_from_the_node(api: Api, ns: str) -> None:
    zone = {"topology.kubernetes.io/zone": "z"}
    api.post("/api/v1/nodes", obj("v1", "Node", "n1", metadata={"labels": zone}))
    api.pod(ns)

    metadata = {"name": "p", "labels": {"a": "b"}, "annotations": {"c": "d"}}
    bind(api, ns, metadata=metadata)

    pod = api.get(f"{ns}/pods/p")["metadata"]
    assert pod["labels"] == {**zone, "a": "b"}
    assert pod["annotations"] == {"c": "d"}


def test_gated_going_and_other_pods_are_not_bound(api: Api, ns: str) -> None:
    api.pod(ns, schedulingGates=[{"name": "a.b/c"}])
    assert "non-empty .spec.schedulingGates" in bind(api, ns)[1]
    assert bind(api, ns, metadata={"name": "p", "uid": "x"})[0] == 409
    assert bind(api, ns, metadata={"name": "q"})[0] == 400
    assert bind(api, ns, target={}) == (500, "target.name: Required value")


def test_the_collection_binds_too(api: Api, ns: str) -> None:
    api.pod(ns)

    api.post(f"{ns}/bindings", {**obj("v1", "Binding", "p"), "target": TARGET})

    assert api.get(f"{ns}/pods/p")["spec"]["nodeName"] == "n1"
    assert api.refused("GET", f"{ns}/pods/p/binding")[0] == 405
