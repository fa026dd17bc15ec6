from __future__ import annotations

from typing import Any

from tests.apiserver.api import Api, obj


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def test_pod_security_enforces_and_warns(api: Api, ns: str) -> None:
    label = "pod-security.kubernetes.io/"
    api.patch(
        ns, {"metadata": {"labels": {f"{label}enforce": "baseline", f"{label}warn": "restricted"}}}
    )

    plain = api.answer(
        "POST", f"{ns}/pods", obj("v1", "Pod", "a", spec={"containers": [container()]})
    )
    assert plain.status == 201
    (warning,) = [value for name, value in plain.headers if name == "Warning"]
    assert "allowPrivilegeEscalation != false" in warning
    risky = {**container(), "securityContext": {"privileged": True}}
    pod = obj("v1", "Pod", "b", spec={"containers": [risky], "hostNetwork": True})
    text = api.refused("POST", f"{ns}/pods", pod)[1]
    assert 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)' in text
    assert 'privileged (container "c" must not set securityContext.privileged=true)' in text
