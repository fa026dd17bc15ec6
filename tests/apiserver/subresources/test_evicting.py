from __future__ import annotations

import pytest
from tests.apiserver.api import Api, obj


def running(api: Api, path: str) -> None:
    api.post(
        f"{path}/pods",
        obj(
            "v1", "Pod", "p", metadata={"labels": {"a": "b"}},
            spec={"containers": [{"name": "c", "image": "x"}], "nodeName": "n"},
        ),
    )  # fmt: skip
    ready = [{"type": "Ready", "status": "True"}]
    api.patch(f"{path}/pods/p/status", {"status": {"phase": "Running", "conditions": ready}})


def budget(api: Api, path: str, **status: int) -> str:
    budgets = f"/apis/policy/v1{path.removeprefix('/api/v1')}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}
    api.post(budgets, obj("policy/v1", "PodDisruptionBudget", "b", spec=spec))
    if status:
        api.patch(f"{budgets}/b/status", {"status": status})
    return f"{budgets}/b"


EVICTION = {"metadata": {"name": "p"}}
FULL = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}


@pytest.mark.parametrize("version", ["policy/v1", "policy/v1beta1"])
def test_a_pod_without_budget_is_evicted(api: Api, ns: str, version: str) -> None:
    running(api, ns)

    body = {**EVICTION, "apiVersion": version, "kind": "Eviction"}
    assert api.post(f"{ns}/pods/p/eviction", body)["status"] == "Success"

    pod = api.get(f"{ns}/pods/p")
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
    assert pod["status"]["conditions"][-1]["type"] == "DisruptionTarget"


def test_an_exhausted_budget_forbids_for_now(api: Api, ns: str) -> None:
    running(api, ns)
    budget(api, ns, **FULL, disruptionsAllowed=0)

    answer = api.answer("POST", f"{ns}/pods/p/eviction", EVICTION)
    assert answer.status == 429
    assert not any(name == "Retry-After" for name, _ in answer.headers)
    assert "deletionTimestamp" not in api.get(f"{ns}/pods/p")["metadata"]


def test_an_unseen_budget_asks_to_wait(api: Api, ns: str) -> None:
    running(api, ns)
    budget(api, ns)

    answer = api.answer("POST", f"{ns}/pods/p/eviction", EVICTION)
    assert ("Retry-After", "10") in answer.headers


def test_an_allowed_eviction_is_counted(api: Api, ns: str) -> None:
    running(api, ns)
    path = budget(api, ns, **{**FULL, "currentHealthy": 2}, disruptionsAllowed=1)

    api.post(f"{ns}/pods/p/eviction?dryRun=All", {**EVICTION, "deleteOptions": {"dryRun": ["All"]}})
    assert api.get(path)["status"]["disruptionsAllowed"] == 1
    api.post(f"{ns}/pods/p/eviction", EVICTION)
    status = api.get(path)["status"]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, ["p"])
