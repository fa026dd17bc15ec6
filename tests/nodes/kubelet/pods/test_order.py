"""Making the order for a container."""

from __future__ import annotations

from pathlib import Path

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pods.order import Furnishing, order_of
from windtunnel.nodes.kubelet.runtime.protocol import ContainerOrder


def order(container: Tree, **spec: Tree) -> ContainerOrder:
    made = {"name": "c", "image": "i", **container}
    pod: Tree = {
        "metadata": {"name": "p", "namespace": "d", "uid": "u"},
        "spec": {"containers": [made], **spec},
    }
    furnishing = Furnishing(
        environment={"A": "1"}, mounts=(), log_path=Path("/l"), address="10.42.0.5"
    )
    return order_of(pod, made, 2, furnishing)


def test_commands_may_name_variables() -> None:
    made = order({"command": ["echo", "$(A)"], "args": ["$(B)"]})

    assert (made.command, made.args) == (("echo", "1"), ("$(B)",))


def test_what_is_not_said_is_left_to_the_image() -> None:
    made = order({})

    assert (made.command, made.args, made.user, made.memory_limit_bytes) == (None, None, None, 0)


def test_a_container_says_as_whom_it_runs_else_its_pod_does() -> None:
    whole = {"runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroups": [4]}
    made = order({"securityContext": {"runAsUser": 0}}, securityContext=whole)

    assert (made.user, made.group, made.groups) == (0, 2, (4, 3))


def test_the_runtime_learns_whose_container_it_is() -> None:
    made = order({"resources": {"limits": {"memory": "24Mi"}}})

    assert dict(made.labels)["io.kubernetes.pod.uid"] == "u"
    assert dict(made.annotations)["io.kubernetes.container.restartCount"] == "2"
    assert made.memory_limit_bytes == 24 * 1024 * 1024
    beyond = order({"resources": {"limits": {"memory": "9223372036854775808"}}})
    assert beyond.memory_limit_bytes == 0  # 64 bits count it below zero: no limit
