from __future__ import annotations

import pytest
from tests.apiserver.api import APPLY, Api, obj

TEMPLATE = {
    "metadata": {"labels": {"app": "d"}},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


@pytest.fixture
def deployments(api: Api, ns: str) -> str:
    path = f"/apis/apps/v1{ns.removeprefix('/api/v1')}/deployments"
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "d"}}, "template": TEMPLATE}
    api.post(path, obj("apps/v1", "Deployment", "d", spec=spec))
    return path


def test_a_scale_is_read_and_written(api: Api, deployments: str) -> None:
    scale = api.get(f"{deployments}/d/scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 0, "selector": "app=d"},
    )

    scale["spec"]["replicas"] = 5
    assert api.put(f"{deployments}/d/scale", scale)["spec"] == {"replicas": 5}
    api.patch(f"{deployments}/d/scale", {"spec": {"replicas": 0}})
    deployment = api.get(f"{deployments}/d")
    assert (deployment["spec"]["replicas"], deployment["metadata"]["generation"]) == (0, 3)


def test_an_unsound_or_stale_scale_is_refused(api: Api, deployments: str) -> None:
    path = f"{deployments}/d/scale"

    negative = {"spec": {"replicas": -1}}
    code, text = api.refused("PATCH", path, negative, content_type="application/merge-patch+json")
    assert code == 422
    assert text.startswith('Scale.autoscaling "d" is invalid: spec.replicas')
    stale = obj("autoscaling/v1", "Scale", "d", metadata={"resourceVersion": "1"}, spec={})
    assert api.refused("PUT", path, stale)[0] == 409


def test_what_has_no_replicas_has_no_scale(api: Api, ns: str) -> None:
    jobs = f"/apis/batch/v1{ns.removeprefix('/api/v1')}/jobs"
    assert api.refused("GET", f"{jobs}/j/scale")[0] == 404


def test_an_applied_scale_owns_the_replicas_of_its_object(api: Api, deployments: str) -> None:
    path = f"{deployments}/d"
    scale = obj("autoscaling/v1", "Scale", "d", spec={"replicas": 5})

    code, text = api.refused("PATCH", f"{path}/scale?fieldManager=me", scale, content_type=APPLY)
    assert (code, ".spec.replicas" in text) == (409, True)
    api.patch(f"{path}/scale?fieldManager=me&force=true", scale, APPLY)

    made = api.get(path)
    assert made["spec"]["replicas"] == 5
    (entry,) = [e for e in made["metadata"]["managedFields"] if e["manager"] == "me"]
    assert (entry["subresource"], entry["fieldsV1"], "time" in entry) == (
        "scale", {"f:spec": {"f:replicas": {}}}, False,
    )  # fmt: skip
