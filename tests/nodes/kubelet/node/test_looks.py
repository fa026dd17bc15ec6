"""How a node looks."""

from __future__ import annotations

from tests.nodes.kubelet.bench import MACHINE

from windtunnel.nodes.kubelet.node import looks
from windtunnel.nodes.kubelet.settings import Settings

PLAIN, K3S = Settings(distribution="plain"), Settings(distribution="k3s")


def test_a_plain_kubelet_has_its_five_labels() -> None:
    assert sorted(looks.labels(PLAIN, MACHINE)) == [
        "beta.kubernetes.io/arch", "beta.kubernetes.io/os", "kubernetes.io/arch",
        "kubernetes.io/hostname", "kubernetes.io/os",
    ]  # fmt: skip


def test_a_server_of_k3s_says_so() -> None:
    labels = looks.labels(K3S, MACHINE)

    assert labels["node-role.kubernetes.io/control-plane"] == "true"
    assert labels["node.kubernetes.io/instance-type"] == "k3s"
    assert "node-role.kubernetes.io/master" not in labels
    assert looks.spec(K3S)["providerID"] == "k3s://node-0"
    assert looks.node_details(K3S, MACHINE)["kubeletVersion"] == "v1.36.3+k3s1"


def test_labels_of_the_user_win() -> None:
    settings = Settings(labels={"kubernetes.io/hostname": "x", "a": "b"})

    assert looks.labels(settings, MACHINE)["kubernetes.io/hostname"] == "x"


def test_taints_are_read_from_their_short_form() -> None:
    settings = Settings(distribution="plain", taints=("k=v:NoSchedule", "e:NoExecute"))

    assert looks.spec(settings)["taints"] == [
        {"key": "k", "value": "v", "effect": "NoSchedule"},
        {"key": "e", "effect": "NoExecute"},
    ]
