"""What a pod may be told of itself."""

from __future__ import annotations

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.fields import field_value, resource_value

CONTAINER: Tree = {
    "name": "c",
    "resources": {"limits": {"cpu": "1500m", "memory": "100Mi"}, "requests": {"cpu": "250m"}},
}
POD: Tree = {
    "metadata": {"name": "p", "labels": {"b": "2", "a": 'say "1"'}},
    "spec": {"containers": [CONTAINER, {"name": "bare"}]},
}
RESOURCES = {
    "rounded up to a whole unit": ({"resource": "limits.cpu"}, "2"),
    "in thousandths": ({"resource": "limits.cpu", "divisor": "1m"}, "1500"),
    "in mebibytes": ({"resource": "limits.memory", "divisor": "1Mi"}, "100"),
    "a request": ({"resource": "requests.cpu", "divisor": "1m"}, "250"),
    "a request that is not made": ({"resource": "requests.memory"}, "0"),
    "without a limit, all that the node has": (
        {"resource": "limits.cpu", "containerName": "bare"}, "4",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reference", "want"), RESOURCES.values(), ids=RESOURCES.keys())
def test_a_resource_of_a_container(reference: Tree, want: str) -> None:
    assert resource_value(POD, CONTAINER, reference, {"cpu": "4"}) == want


def test_all_labels_are_listed_in_order_and_quoted() -> None:
    told = field_value(POD, "metadata.labels", node_address="", address="")

    assert told == 'a="say \\"1\\""\nb="2"'


def test_an_unknown_container_is_refused() -> None:
    with pytest.raises(ValueError):
        resource_value(POD, CONTAINER, {"resource": "limits.cpu", "containerName": "x"}, {})
