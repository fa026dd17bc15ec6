"""Tests of the status updater's settings."""

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.status_updater import read_settings

NEEDED = {
    "TOPOLOGY_CM_NAME": "topology",
    "TOPOLOGY_CM_NAMESPACE": "gpu",
    "FAKE_GPU_OPERATOR_NAMESPACE": "gpu",
    "RESOURCE_RESERVATION_NAMESPACE": "kai-resource-reservation",
}


@pytest.mark.parametrize("name", NEEDED)
def test_each_of_four_must_be_set(name: str) -> None:
    with pytest.raises(UsageError, match=f"^{name} is not set$"):
        read_settings({key: value for key, value in NEEDED.items() if key != name})


def test_the_rest_has_defaults() -> None:
    found = read_settings(NEEDED)

    assert (found.labels_nodes, found.runai_seconds) == (True, 0.0)
    assert found.reservation_namespace == "kai-resource-reservation"


def test_what_is_set_is_read() -> None:
    more = {"DISABLE_NODE_LABELING": "true", "RUNAI_INTEGRATION_ENABLED": "true"}

    found = read_settings(NEEDED | more)

    assert (found.labels_nodes, found.runai_seconds) == (False, 30.0)
