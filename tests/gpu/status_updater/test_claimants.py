"""Tests of which pods ask for GPUs, and where."""

from __future__ import annotations

from windtunnel.client import Change
from windtunnel.gpu.status_updater.claimants import Claimants
from windtunnel.machinery.tree import Key, encode


def asking(name: str, node: str, *claims: str, gpus: int = 1, kind: str = "ADDED") -> Change:
    tree = {
        "metadata": {"name": name, "namespace": "ml", "uid": f"uid-{name}"},
        "spec": {
            "nodeName": node,
            "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
            "resourceClaims": [{"name": one, "resourceClaimName": one} for one in claims],
        },
        "status": {"phase": "Running"},
    }
    return Change(kind, Key("ml", name), 1, encode(tree))  # type: ignore[arg-type]


def names(claimants: Claimants, node: str) -> list[str]:
    return [one.key.name for one in claimants.on(node)]


def test_pods_come_change_and_go() -> None:
    claimants = Claimants("reserved")

    none, first = claimants.take(asking("a", "n1"))
    again, more = claimants.take(asking("a", "n1", gpus=2, kind="MODIFIED"))
    claimants.take(asking("b", "n1"))
    assert (none, again) == (None, first)
    assert more not in (None, first)
    assert names(claimants, "n1") == ["a", "b"]

    last, gone = claimants.take(asking("a", "n1", kind="DELETED"))
    assert (last, gone) == (more, None)
    assert names(claimants, "n1") == ["b"]


def test_a_pod_of_the_same_name_on_another_node_is_there_only() -> None:
    claimants = Claimants("reserved")
    claimants.take(asking("a", "n1"))

    claimants.take(asking("a", "n2"))

    assert (names(claimants, "n1"), names(claimants, "n2")) == ([], ["a"])


def test_whom_a_claim_concerns() -> None:
    claimants = Claimants("reserved")
    claimants.take(asking("a", "n1", "c"))
    claimants.take(asking("b", "n2"))

    assert claimants.nodes_of("ml", "c") == ["n1"]
    assert claimants.nodes_of("other", "c") == []
