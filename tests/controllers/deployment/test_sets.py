from typing import Any

import msgspec
import pytest

from windtunnel.controllers.deployment.sets import (
    find_newest,
    new_set,
    revision_notes,
)
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.views import ReplicaSetView

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"


def template(image: str, **labels: str) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"app": "a", **labels}},
        "spec": {"containers": [{"image": image}]},
    }


def deployment(image: str = "app:1", **annotations: str) -> DeploymentView:
    notes = {key.replace("_", "/"): value for key, value in annotations.items()}
    tree = {
        "metadata": {"name": "web", "namespace": "ns", "uid": "u", "annotations": notes},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "a"}},
            "template": template(image),
        },
    }
    return msgspec.json.decode(msgspec.json.encode(tree), type=DeploymentView)


def replica_set(name: str, image: str, **notes: str) -> ReplicaSetView:
    annotations = {f"deployment.kubernetes.io/{key}": value for key, value in notes.items()}
    tree = {
        "metadata": {
            "name": name,
            "annotations": {k.replace("_", "-"): v for k, v in annotations.items()},
        },
        "spec": {"replicas": 1, "template": template(image, **{"pod-template-hash": name})},
    }
    return msgspec.json.decode(msgspec.json.encode(tree), type=ReplicaSetView)


def test_the_newest_is_found_by_its_template_alone() -> None:
    sets = [replica_set("x", "app:2"), replica_set("y", "app:1"), replica_set("z", "app:1")]

    found = find_newest(deployment(), sets)

    assert found is sets[1]


def test_a_new_set_is_owned_labelled_and_numbered() -> None:
    owner = deployment(
        example_note="x", **{"kubectl.kubernetes.io_last-applied-configuration": "{}"}
    )
    tree = new_set(owner, [replica_set("old", "app:0", revision="4")], 2, 1)
    digest = tree["metadata"]["labels"]["pod-template-hash"]

    assert tree["metadata"]["name"] == f"web-{digest}"
    assert tree["spec"]["selector"] == {"matchLabels": {"app": "a", "pod-template-hash": digest}}
    assert tree["spec"]["template"]["metadata"]["labels"] == tree["metadata"]["labels"]
    assert tree["metadata"]["ownerReferences"][0]["controller"] is True
    assert tree["metadata"]["annotations"] == {
        "example/note": "x",
        REVISION: "5",
        "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
    }


NOTES = {
    "up to date": (replica_set("y", "app:1", revision="3"), {}),
    "used again": (replica_set("y", "app:1", revision="1"), {REVISION: "3", HISTORY: "1"}),
    "used again and again": (
        replica_set("y", "app:1", revision="2", revision_history="1"),
        {REVISION: "3", HISTORY: "1,2"},
    ),
    "adopted without number": (replica_set("y", "app:1"), {REVISION: "3"}),
    "an odd number is left alone": (replica_set("y", "app:1", revision="x"), {}),
}


@pytest.mark.parametrize(("newest", "want"), NOTES.values(), ids=NOTES.keys())
def test_what_the_newest_set_lacks(newest: ReplicaSetView, want: dict[str, str]) -> None:
    old = [replica_set("x", "app:2", revision="2")]

    assert revision_notes(deployment(), newest, old) == want
