from __future__ import annotations

from tests.apiserver.api import STRATEGIC, Api


def test_ephemeral_containers_are_added_and_stay(api: Api, ns: str) -> None:
    api.pod(ns)
    path = f"{ns}/pods/p/ephemeralcontainers"
    added = {"spec": {"ephemeralContainers": [{"name": "d", "image": "x"}]}}

    pod = api.patch(path, added, STRATEGIC)
    assert pod["metadata"]["generation"] == 2
    removed = {"spec": {"ephemeralContainers": None}}
    code, text = api.refused("PATCH", path, removed, content_type=STRATEGIC)
    assert code == 422
    assert 'existing ephemeral containers "d" may not be removed' in text


def test_a_resize_changes_cpu_and_memory_and_nothing_else(api: Api, ns: str) -> None:
    limits = {"cpu": "1", "nvidia.com/gpu": 1}
    api.pod(ns, containers=[{"name": "c", "image": "x", "resources": {"limits": limits}}])
    path = f"{ns}/pods/p/resize"

    def wanted(**given: str) -> dict[str, object]:
        resources = {"limits": given, "requests": given}
        return {"spec": {"containers": [{"name": "c", "image": "y", "resources": resources}]}}

    pod = api.patch(path, wanted(cpu="2"), STRATEGIC)
    (container,) = pod["spec"]["containers"]
    assert (container["image"], container["resources"]["limits"]["cpu"]) == ("x", "2")
    more = wanted(**{"nvidia.com/gpu": "2"})
    code, text = api.refused("PATCH", path, more, content_type=STRATEGIC)
    assert code == 422
    assert "only cpu and memory resources are mutable" in text


def test_finalize_writes_the_finalizers_of_a_namespace_alone(api: Api, ns: str) -> None:
    body = {"metadata": {"name": "ns"}, "spec": {"finalizers": ["a.b/c"]}, "status": {"phase": "X"}}

    made = api.put(f"{ns}/finalize", body)

    assert made["spec"]["finalizers"] == ["a.b/c"]
    assert made["status"]["phase"] == "Active"


def test_a_subresource_that_is_no_part_is_not_found(api: Api, ns: str) -> None:
    api.pod(ns)

    assert api.refused("GET", f"{ns}/pods/p/nope")[0] == 404
    assert api.refused("POST", f"{ns}/pods/p/status", {})[0] == 405
