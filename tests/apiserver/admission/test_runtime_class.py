from __future__ import annotations

from typing import Any

from tests.apiserver.api import Api, obj


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def test_a_runtime_class_adds_overhead_and_placement(api: Api, ns: str) -> None:
    kata = obj(
        "node.k8s.io/v1", "RuntimeClass", "kata", handler="kata",
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={
            "nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}],
        },
    )  # fmt: skip
    api.post("/apis/node.k8s.io/v1/runtimeclasses", kata)

    spec = api.pod(ns, runtimeClassName="kata")["spec"]
    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "250m"}, {"a": "b"})
    assert {"key": "k", "operator": "Exists"} in spec["tolerations"]

    def refused(**given: Any) -> str:
        pod = obj("v1", "Pod", "q", spec={"containers": [container()], **given})
        return api.refused("POST", f"{ns}/pods", pod)[1]

    assert "conflict: runtimeClass.scheduling.nodeSelector[a] = b" in refused(
        runtimeClassName="kata", nodeSelector={"a": "c"}
    )
    assert 'RuntimeClass "x" not found' in refused(runtimeClassName="x")
    assert "without corresponding RuntimeClass" in refused(overhead={"cpu": "1"})
