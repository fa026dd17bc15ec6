"""Shapes: what a pod demands, worked out of its spec."""

from __future__ import annotations

import pytest
from tests.build import pod

from windtunnel.fleet.shape import tagged


def test_ports_of_sidecars_count_and_those_of_init_containers_do_not() -> None:
    init = [
        {"name": "s", "restartPolicy": "Always", "ports": [{"hostPort": 1}]},
        {"name": "i", "ports": [{"hostPort": 2}]},
    ]
    main = [{"name": "m", "ports": [{"hostPort": 3, "hostIP": "10.0.0.1", "protocol": "UDP"}]}]

    assert pod(containers=main, initContainers=init).shape.host_ports == (
        ("0.0.0.0", "TCP", 1),
        ("10.0.0.1", "UDP", 3),
    )


IMAGES = {
    "busybox": "busybox:latest",
    "busybox:1.36": "busybox:1.36",
    "registry:5000/busybox": "registry:5000/busybox:latest",
    "busybox@sha256:0": "busybox@sha256:0",
}


@pytest.mark.parametrize(("image", "want"), IMAGES.items())
def test_an_image_without_tag_is_the_latest(image: str, want: str) -> None:
    assert tagged(image) == want


def test_pods_that_mention_other_pods_say_so() -> None:
    term = {"topologyKey": "zone", "labelSelector": {}}
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}

    assert pod(affinity=affinity).shape.has_pod_terms
    assert not pod().shape.has_pod_terms
    (kept,) = pod(affinity=affinity, namespace="red").shape.preferred_affinity
    assert (kept.weight, kept.pods.namespaces) == (1, {"red"})


def test_selector_and_required_terms_are_one_choice() -> None:
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "x", "operator": "Exists"}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    choice = pod(nodeSelector={"tier": "gold"}, affinity=affinity).shape.node_choice

    assert choice.matches("a", {"tier": "gold", "x": "1"})
    assert not choice.matches("a", {"tier": "gold"})
    assert not choice.matches("a", {"x": "1"})
