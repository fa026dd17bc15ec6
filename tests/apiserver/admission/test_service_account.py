from __future__ import annotations

from typing import Any

from tests.apiserver.api import Api, obj


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def test_a_pod_gets_its_account_and_token(api: Api, ns: str) -> None:
    spec = api.pod(ns)["spec"]

    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    (volume,) = spec["volumes"]
    (mount,) = spec["containers"][0]["volumeMounts"]
    assert volume["name"] == mount["name"]
    assert mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"


def test_a_pod_or_its_account_may_decline_the_token(api: Api, ns: str) -> None:
    assert "volumes" not in api.pod(ns, automountServiceAccountToken=False)["spec"]
    api.patch(f"{ns}/serviceaccounts/default", {"automountServiceAccountToken": False})
    assert "volumes" not in api.pod(ns, "q")["spec"]


def test_pull_secrets_come_with_the_account(api: Api, ns: str) -> None:
    api.patch(f"{ns}/serviceaccounts/default", {"imagePullSecrets": [{"name": "s"}]})

    assert api.pod(ns)["spec"]["imagePullSecrets"] == [{"name": "s"}]


def test_an_account_must_exist(api: Api, ns: str) -> None:
    pod = obj("v1", "Pod", "p", spec={"containers": [container()], "serviceAccountName": "x"})

    code, text = api.refused("POST", f"{ns}/pods", pod)
    assert code == 403
    assert text.endswith('error looking up service account ns/x: serviceaccount "x" not found')
