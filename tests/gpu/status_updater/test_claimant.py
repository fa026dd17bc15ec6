"""Tests of what a pod asks of GPUs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from windtunnel.gpu.status_updater.claimant import AskingPod, Claimant, claimant_of

RESERVED = "runai-reservation"


def container(name: str, gpus: str = "", *, sidecar: bool = False) -> dict[str, Any]:
    tree: dict[str, Any] = {"name": name}
    if gpus:
        tree["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    if sidecar:
        tree["restartPolicy"] = "Always"
    return tree


def read(
    *containers: dict[str, Any],
    inits: list[dict[str, Any]] | None = None,
    phase: str = "Running",
    namespace: str = "ml",
    node: str = "n",
    **meta: Any,
) -> Claimant | None:
    tree = {
        "metadata": {"name": "p", "namespace": namespace, "uid": "u", **meta},
        "spec": {"nodeName": node, "containers": list(containers), "initContainers": inits or []},
        "status": {"phase": phase},
    }
    return claimant_of(msgspec.convert(tree, AskingPod), RESERVED)


WANTS = {
    "one container": (read(container("a", "2")), (("a", 2),)),
    "the second container counts, too": (
        read(container("a"), container("b", "1")),
        (("b", 1),),
    ),
    "an init container": (read(container("a"), inits=[container("i", "1")]), (("i", 1),)),
    "an init container that needs no more than the containers": (
        read(container("a", "2"), inits=[container("i", "1")]),
        (("a", 2),),
    ),
    "an init container that needs more": (
        read(container("a", "1"), inits=[container("i", "3")]),
        (("a", 1), ("i", 2)),
    ),
    "a sidecar holds its own": (
        read(container("a", "1"), inits=[container("s", "1", sidecar=True)]),
        (("a", 1), ("s", 1)),
    ),
}


@pytest.mark.parametrize(("found", "want"), WANTS.values(), ids=WANTS)
def test_gpus(found: Claimant | None, want: tuple[tuple[str, int], ...]) -> None:
    assert found is not None
    assert found.wants == want


NOBODY = {
    "a pod without GPUs": read(container("a")),
    "a limit of none": read(container("a", "0")),
    "a pod without a node": read(container("a", "1"), node=""),
    "a pod that succeeded": read(container("a", "1"), phase="Succeeded"),
    "a pod that failed": read(container("a", "1"), phase="Failed"),
    "a shared pod among the reservations": read(
        container("a"), namespace=RESERVED, labels={"runai-gpu-group": "g"}
    ),
    "a fraction alone": read(container("a"), annotations={"gpu-fraction": "0.5"}),
}


@pytest.mark.parametrize("found", NOBODY.values(), ids=NOBODY)
def test_nothing_is_asked_by(found: Claimant | None) -> None:
    assert found is None


def test_what_is_written_on_a_shared_pod_is_read() -> None:
    found = read(
        container("a"),
        labels={"runai-gpu-group": "g", "workloadKind": "TrainingWorkload"},
        annotations={"gpu-fraction": "0.5", "pod-group-name": "pg", "runai-gpu": "1"},
    )

    assert found is not None
    assert (found.shared, found.group, found.shared_index, found.share) == (True, "g", "1", "0.5")
    assert (found.workload, found.pod_group) == ("train", "")


def test_claims_are_named_by_status_and_spec() -> None:
    tree = {
        "metadata": {"name": "p", "namespace": "ml", "uid": "u"},
        "spec": {
            "nodeName": "n",
            "containers": [{"name": "a"}, {"name": "b", "resources": {"claims": [{"name": "c"}]}}],
            "resourceClaims": [
                {"name": "c", "resourceClaimName": "given"},
                {"name": "d", "resourceClaimTemplateName": "t"},
            ],
        },
        "status": {"resourceClaimStatuses": [{"name": "d", "resourceClaimName": "made"}]},
    }

    found = claimant_of(msgspec.convert(tree, AskingPod), RESERVED)

    assert found is not None
    assert found.claims == ("made", "given")
    assert found.claim_container == "b"


def test_what_the_kubelet_gave_is_read() -> None:
    given = [
        {"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-1", "health": "Healthy"}]},
        {"name": "example.com/nic", "resources": [{"resourceID": "nic-1"}]},
    ]
    tree = {
        "metadata": {"name": "p", "namespace": "ml", "uid": "u"},
        "spec": {"nodeName": "n", "containers": [container("a", "1")]},
        "status": {"containerStatuses": [{"name": "a", "allocatedResourcesStatus": given}]},
    }

    found = claimant_of(msgspec.convert(tree, AskingPod), RESERVED)

    assert found is not None
    assert found.given == (("a", "GPU-1"),)
