from typing import Any

import msgspec
import pytest

from windtunnel.controllers.revisions import RevisionView
from windtunnel.controllers.statefulset.identity import (
    claim_owners,
    make_claims,
    make_pod,
    missing_labels,
    ordinal_of,
)
from windtunnel.controllers.statefulset.views import StatefulSetView
from windtunnel.controllers.views import Metadata, PodView
from windtunnel.machinery.tree import encode


def stateful_set(**spec: Any) -> StatefulSetView:
    claim = {
        "metadata": {"name": "data", "labels": {"app": "x", "tier": "t"}},
        "spec": {"accessModes": ["ReadWriteOnce"]},
    }
    whole = {
        "selector": {"matchLabels": {"app": "db"}},
        "serviceName": "svc",
        "volumeClaimTemplates": [claim],
        **spec,
    }
    tree = {"metadata": {"name": "db", "namespace": "ns", "uid": "u"}, "spec": whole}
    return msgspec.json.decode(encode(tree), type=StatefulSetView)


NAMES = [
    ("db-0", 0),
    ("db-12", 12),
    ("db", None),
    ("db-x", None),
    ("other-1", None),
    ("db-1-1", None),
]


@pytest.mark.parametrize(("name", "want"), NAMES)
def test_the_number_in_a_name(name: str, want: int | None) -> None:
    assert ordinal_of(stateful_set(), name) == want


def test_a_pod_has_its_name_its_place_and_its_claims() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]
    template = {
        "metadata": {"labels": {"app": "db"}},
        "spec": {"containers": [], "volumes": volumes},
        "$patch": "replace",
    }
    tree = {"metadata": {"name": "db-abc"}, "data": {"spec": {"template": template}}}
    revision = msgspec.json.decode(encode(tree), type=RevisionView)

    pod = make_pod(stateful_set(), revision, 2)

    assert pod["metadata"]["name"] == "db-2"
    assert pod["metadata"]["labels"] == {
        "app": "db",
        "statefulset.kubernetes.io/pod-name": "db-2",
        "apps.kubernetes.io/pod-index": "2",
        "controller-revision-hash": "db-abc",
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-2", "svc")
    assert pod["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-2", "readOnly": False}},
        {"name": "tmp", "emptyDir": {}},
    ]


def test_a_claim_is_labelled_by_the_selector() -> None:
    (claim,) = make_claims(stateful_set(), 1)

    assert claim["metadata"] == {
        "name": "data-db-1", "namespace": "ns", "labels": {"app": "db", "tier": "t"}
    }  # fmt: skip
    assert claim["spec"] == {"accessModes": ["ReadWriteOnce"]}


SURPLUS = Metadata(name="db-3", uid="p")
OWNERS: dict[str, tuple[str, str, Metadata | None, list[str]]] = {
    "kept in any case": ("Retain", "Retain", SURPLUS, []),
    "goes with the set": ("Delete", "Retain", None, ["u"]),
    "goes with the set, its pod superfluous": ("Delete", "Retain", SURPLUS, ["u"]),
    "goes with a superfluous pod": ("Retain", "Delete", SURPLUS, ["p"]),
    "stays with a pod that is wanted": ("Retain", "Delete", None, []),
    "goes with whatever goes first": ("Delete", "Delete", SURPLUS, ["p"]),
}


@pytest.mark.parametrize(("deleted", "scaled", "surplus", "want"), OWNERS.values(), ids=OWNERS)
def test_a_claim(deleted: str, scaled: str, surplus: Metadata | None, want: list[str]) -> None:
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    view = stateful_set(persistentVolumeClaimRetentionPolicy=policy)

    assert [owner["uid"] for owner in claim_owners(view, surplus)] == want


def test_labels_that_were_changed_are_missing() -> None:
    labels = {"statefulset.kubernetes.io/pod-name": "x", "apps.kubernetes.io/pod-index": "0"}
    pod = PodView(Metadata(name="db-0", labels=labels))

    assert missing_labels(pod, 0) == {"statefulset.kubernetes.io/pod-name": "db-0"}
