from __future__ import annotations

from tests.apiserver.api import Api, obj


def test_claims_get_the_newest_default_class_and_protection(api: Api, ns: str) -> None:
    for name, default in (("plain", "false"), ("best", "true")):
        marked = {"annotations": {"storageclass.kubernetes.io/is-default-class": default}}
        body = obj("storage.k8s.io/v1", "StorageClass", name, metadata=marked, provisioner="p")
        api.post("/apis/storage.k8s.io/v1/storageclasses", body)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

    claim = api.post(
        f"{ns}/persistentvolumeclaims", obj("v1", "PersistentVolumeClaim", "c", spec=spec)
    )
    assert claim["spec"]["storageClassName"] == "best"
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
