from __future__ import annotations

import pytest
from tests.apiserver.api import Api, config, obj


def test_what_nothing_holds_goes_at_once(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps", config("m"))

    status = api.delete(f"{ns}/configmaps/m")

    assert status["status"] == "Success"
    assert status["details"] == {
        "name": "m", "kind": "configmaps", "uid": made["metadata"]["uid"],
    }  # fmt: skip
    assert api.refused("GET", f"{ns}/configmaps/m")[0] == 404


GRACE = {
    "not yet placed": ({}, None, 0),
    "placed": ({"nodeName": "n"}, None, 30),
    "its own period": ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, None, 7),
    "the request's": ({"nodeName": "n"}, 5, 5),
    "none": ({"nodeName": "n"}, 0, 0),
    "less than none": ({"nodeName": "n"}, -1, 1),
}


@pytest.mark.parametrize(("spec", "asked", "want"), GRACE.values(), ids=GRACE)
def test_a_pod_is_given_time(
    api: Api, ns: str, spec: dict[str, object], asked: int | None, want: int
) -> None:
    api.pod(ns, **spec)

    pod = api.delete(f"{ns}/pods/p", None if asked is None else {"gracePeriodSeconds": asked})

    assert pod["metadata"]["deletionGracePeriodSeconds"] == want
    assert pod["metadata"]["generation"] == 2
    assert api.send("GET", f"{ns}/pods/p")[0] == (200 if want else 404)


def test_a_second_delete_may_only_hurry(api: Api, ns: str) -> None:
    api.pod(ns, nodeName="n")
    api.delete(f"{ns}/pods/p", {"gracePeriodSeconds": 9})

    def grace(seconds: int) -> int:
        pod = api.delete(f"{ns}/pods/p", {"gracePeriodSeconds": seconds})
        found: int = pod["metadata"]["deletionGracePeriodSeconds"]
        return found

    assert grace(20) == 9
    assert grace(2) == 2
    api.delete(f"{ns}/pods/p", {"gracePeriodSeconds": 0})
    assert api.refused("GET", f"{ns}/pods/p")[0] == 404


def test_preconditions_must_hold(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))

    code, text = api.refused("DELETE", f"{ns}/configmaps/m", {"preconditions": {"uid": "x"}})
    assert code == 409
    assert "does not match the UID in record" in text


@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")]
)
def test_dependents_hold_their_owner(api: Api, ns: str, policy: str, finalizer: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))

    left = api.delete(f"{ns}/configmaps/m", {"propagationPolicy": policy})

    assert left["metadata"]["finalizers"] == [finalizer]
    assert left["metadata"]["deletionTimestamp"]
    api.delete(f"{ns}/configmaps/m", {"propagationPolicy": "Background"})
    assert api.refused("GET", f"{ns}/configmaps/m")[0] == 404


def test_jobs_keep_their_pods_unless_told_otherwise(api: Api, ns: str) -> None:
    path = f"/apis/batch/v1{ns.removeprefix('/api/v1')}/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}
    api.post(path, obj("batch/v1", "Job", "j", spec={"template": template}))

    answer = api.answer("DELETE", f"{path}/j")
    assert b'"orphan"' in answer.body
    assert any(name == "Warning" for name, _ in answer.headers)


def test_a_namespace_ends_when_its_finalizers_do(api: Api, ns: str) -> None:
    left = api.delete(ns)
    assert left["status"]["phase"] == "Terminating"

    code, text = api.refused("POST", f"{ns}/configmaps", config("m"))
    assert code == 403
    assert "because it is being terminated" in text
    api.put(f"{ns}/finalize", obj("v1", "Namespace", "ns", spec={"finalizers": []}))
    assert api.refused("GET", ns)[0] == 404


def test_a_dry_run_deletes_nothing(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))
    api.delete(f"{ns}/configmaps/m?dryRun=All")

    assert api.get(f"{ns}/configmaps/m")["metadata"]["name"] == "m"


def test_many_are_deleted_by_selector(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("a", metadata={"labels": {"x": "y"}}))
    api.post(f"{ns}/configmaps", config("b"))

    deleted = api.delete(f"{ns}/configmaps?labelSelector=x=y")

    assert [item["metadata"]["name"] for item in deleted["items"]] == ["a"]
    left = api.get(f"{ns}/configmaps")["items"]
    assert [item["metadata"]["name"] for item in left] == ["b"]
