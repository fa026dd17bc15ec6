from __future__ import annotations

from tests.apiserver.api import Api, config, obj


def test_a_create_fills_in_what_is_the_servers(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps", config("m", data={"a": "1"}))

    metadata = made["metadata"]
    assert metadata["namespace"] == "ns"
    assert metadata["uid"]
    assert metadata["creationTimestamp"] == "2027-01-15T08:00:00Z"
    assert int(metadata["resourceVersion"]) == api.store.revision
    assert metadata["managedFields"][0]["manager"] == "test"


def test_a_name_is_generated(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps", {"metadata": {"generateName": "x-"}})

    name = made["metadata"]["name"]
    assert name.startswith("x-")
    assert len(name) == 7


def test_a_taken_name_is_refused(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m", metadata={"finalizers": ["a.b/c"]}))
    assert api.refused("POST", f"{ns}/configmaps", config("m")) == (
        409,
        'configmaps "m" already exists',
    )

    api.delete(f"{ns}/configmaps/m")
    assert api.refused("POST", f"{ns}/configmaps", config("m"))[1].startswith("object is being")


def test_another_namespace_than_the_paths_is_refused(api: Api, ns: str) -> None:
    elsewhere = config("m", metadata={"namespace": "other"})

    assert api.refused("POST", f"{ns}/configmaps", elsewhere)[0] == 400


def test_a_revision_on_a_create_is_refused(api: Api, ns: str) -> None:
    known = config("m", metadata={"resourceVersion": "5"})

    assert api.refused("POST", f"{ns}/configmaps", known)[0] == 500


def test_a_dry_run_stores_nothing(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps?dryRun=All", config("m"))

    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert api.refused("GET", f"{ns}/configmaps/m")[0] == 404


def test_a_stale_put_conflicts_and_one_without_revision_wins(api: Api, ns: str) -> None:
    first = api.post(f"{ns}/configmaps", config("m"))
    api.put(f"{ns}/configmaps/m", config("m", data={"a": "1"}))

    code, text = api.refused("PUT", f"{ns}/configmaps/m", {**first, "data": {"a": "2"}})
    assert code == 409
    assert "has been modified" in text


def test_some_kinds_demand_a_revision(api: Api, ns: str) -> None:
    path = f"/apis/coordination.k8s.io/v1{ns.removeprefix('/api/v1')}/leases"
    lease = obj("coordination.k8s.io/v1", "Lease", "l")
    api.post(path, lease)

    code, text = api.refused("PUT", f"{path}/l", lease)
    assert (code, "must be specified for an update" in text) == (422, True)


def test_some_kinds_are_created_by_a_put(api: Api, ns: str) -> None:
    path = f"/apis/rbac.authorization.k8s.io/v1{ns.removeprefix('/api/v1')}/roles/r"
    role = obj("rbac.authorization.k8s.io/v1", "Role", "r", rules=[])

    assert api.send("PUT", path, role)[0] == 201
    assert api.send("PUT", path, role)[0] == 200
    assert api.refused("PUT", f"{ns}/configmaps/m", config("m"))[0] == 404


def test_a_write_that_changes_nothing_keeps_the_revision(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps", config("m", data={"a": "1"}))
    api.clock.move_to(api.clock.now() + 60)
    before = api.store.revision

    again = api.put(f"{ns}/configmaps/m", config("m", data={"a": "1"}))

    assert api.store.revision == before
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_generations_count_changes_of_what_is_wanted(api: Api, ns: str) -> None:
    pod = api.pod(ns)
    assert pod["metadata"]["generation"] == 1

    labelled = api.patch(f"{ns}/pods/p", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 1
    seen = api.patch(f"{ns}/pods/p/status", {"status": {"phase": "Running"}})
    assert seen["metadata"]["generation"] == 1
    image = {"spec": {"containers": [{"name": "c", "image": "other:1"}]}}
    changed = api.patch(f"{ns}/pods/p", image, "application/strategic-merge-patch+json")
    assert changed["metadata"]["generation"] == 2


def test_a_write_to_the_status_changes_only_status_labels_and_annotations(
    api: Api, ns: str
) -> None:
    api.pod(ns)

    body = {
        **obj("v1", "Pod", "p", spec={"containers": [{"name": "c", "image": "x"}]}),
        "status": {"phase": "Running"},
    }
    body["metadata"]["labels"] = {"q": "r"}
    pod = api.put(f"{ns}/pods/p/status", body)

    assert pod["spec"]["containers"][0]["image"] == "busybox:1.36"
    assert pod["status"]["phase"] == "Running"
    assert pod["metadata"]["labels"] == {"q": "r"}


def test_the_last_finalizer_takes_the_object_with_it(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m", metadata={"finalizers": ["a.b/c"]}))
    api.delete(f"{ns}/configmaps/m")

    added = {"metadata": {"finalizers": ["a.b/c", "x.y/z"]}}
    assert api.send("PATCH", f"{ns}/configmaps/m", added,
                    content_type="application/merge-patch+json")[0] == 422  # fmt: skip
    gone = api.patch(f"{ns}/configmaps/m", {"metadata": {"finalizers": None}})
    assert gone["metadata"]["name"] == "m"
    assert api.refused("GET", f"{ns}/configmaps/m")[0] == 404


def test_names_in_body_and_path_must_agree(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))

    assert api.refused("PUT", f"{ns}/configmaps/m", config("n")) == (
        400,
        "the name of the object (n) does not match the name on the URL (m)",
    )
    assert api.refused("PUT", f"{ns}/configmaps/m", {"kind": "ConfigMap", "apiVersion": "v1"})[
        1
    ].endswith("name must be provided")
