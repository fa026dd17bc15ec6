from __future__ import annotations

import pytest
from tests.apiserver.api import Api, config

from windtunnel.apiserver.verbs.ownership import default_manager


@pytest.mark.parametrize(
    ("agent", "manager"),
    [("kubectl/v1.36 (linux)", "kubectl"), ("a\nb/1", "ab"), ("", "unknown"), ("/x", "unknown")],
)
def test_a_client_without_a_manager_is_known_by_its_agent(agent: str, manager: str) -> None:
    assert default_manager(agent) == manager


def test_what_admission_adds_belongs_to_nobody(api: Api, ns: str) -> None:
    pod = api.pod(ns)

    (entry,) = pod["metadata"]["managedFields"]
    assert "f:serviceAccountName" not in entry["fieldsV1"]["f:spec"]
    assert "f:status" not in entry["fieldsV1"]


def test_status_and_spec_have_owners_of_their_own(api: Api, ns: str) -> None:
    api.pod(ns)

    pod = api.patch(f"{ns}/pods/p/status?fieldManager=k", {"status": {"phase": "Running"}})

    (entry,) = [each for each in pod["metadata"]["managedFields"] if each["manager"] == "k"]
    assert entry["subresource"] == "status"
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}}}


def test_the_named_manager_owns_what_it_writes(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps?fieldManager=me", config("m", data={"a": "1"}))

    assert made["metadata"]["managedFields"][0]["manager"] == "me"
