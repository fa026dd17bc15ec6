from __future__ import annotations

from typing import Any

from tests.apiserver.api import Api, config, obj

GPU = "nvidia.com/gpu"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def quota(api: Api, path: str, spec: dict[str, Any] | None = None, **hard: Any) -> None:
    body = obj("v1", "ResourceQuota", "q", spec={"hard": hard, **(spec or {})})
    api.post(f"{path}/resourcequotas", body)
    used = dict.fromkeys(hard, "0")
    api.patch(f"{path}/resourcequotas/q/status", {"status": {"hard": hard, "used": used}})


def ask(api: Api, path: str, name: str, **resources: Any) -> str:
    pod = obj("v1", "Pod", name, spec={"containers": [container(**resources)]})
    status, tree = api.send("POST", f"{path}/pods", pod)
    return "" if status == 201 else str(tree["message"])


def test_a_quota_counts_what_it_lets_in(api: Api, ns: str) -> None:
    quota(api, ns, **{f"requests.{GPU}": 2})

    assert ask(api, ns, "a", limits={GPU: 2}) == ""
    assert ask(api, ns, "b", limits={GPU: 1}) == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, '
        "used: requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2"
    )
    assert ask(api, ns, "c") == ""
    status = api.get(f"{ns}/resourcequotas/q")["status"]
    assert status["used"] == {f"requests.{GPU}": "2"}


def test_a_dry_run_is_not_counted(api: Api, ns: str) -> None:
    quota(api, ns, pods=1)
    api.post(f"{ns}/pods?dryRun=All", obj("v1", "Pod", "a", spec={"containers": [container()]}))

    assert ask(api, ns, "a") == ""
    assert "exceeded quota" in ask(api, ns, "b")


def test_what_is_counted_must_be_stated(api: Api, ns: str) -> None:
    quota(api, ns, **{"requests.cpu": 2, "limits.memory": "1Gi"})

    assert "must specify limits.memory for: c; requests.cpu for: c" in ask(api, ns, "a")


def test_a_quota_looks_only_at_its_scope(api: Api, ns: str) -> None:
    quota(api, ns, {"scopes": ["NotBestEffort"]}, pods=0)

    assert ask(api, ns, "a") == ""
    assert "exceeded quota" in ask(api, ns, "b", requests={"cpu": 1})


def test_objects_are_counted_by_resource(api: Api, ns: str) -> None:
    quota(api, ns, **{"count/configmaps": 1})

    api.post(f"{ns}/configmaps", config("a"))
    assert "count/configmaps=1" in api.refused("POST", f"{ns}/configmaps", config("b"))[1]
