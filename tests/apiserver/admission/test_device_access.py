from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import Api, obj


@pytest.mark.parametrize("plural", ["resourceclaims", "resourceclaimtemplates"])
def test_admin_access_is_a_matter_of_the_namespace(api: Api, ns: str, plural: str) -> None:
    exactly = {"deviceClassName": "gpu.example.com", "adminAccess": True}
    spec: dict[str, Any] = {"devices": {"requests": [{"name": "g", "exactly": exactly}]}}
    claim = plural == "resourceclaims"
    tree = obj(
        "resource.k8s.io/v1",
        "ResourceClaim" if claim else "ResourceClaimTemplate",
        "c",
        spec=spec if claim else {"spec": spec},
    )
    path = f"/apis/resource.k8s.io/v1/namespaces/ns/{plural}"

    code, text = api.refused("POST", path, tree)
    assert code == 422
    assert "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices" in text
    label = {"resource.kubernetes.io/admin-access": "true"}
    api.patch("/api/v1/namespaces/ns", {"metadata": {"labels": label}})
    assert api.post(path, tree)["metadata"]["name"] == "c"
