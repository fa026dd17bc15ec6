"""Tests of the settings of the DRA plugin of played nodes."""

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.kwok_dra_plugin import read_settings


@pytest.mark.parametrize("missing", ["TOPOLOGY_CM_NAME", "TOPOLOGY_CM_NAMESPACE"])
def test_both_must_be_set(missing: str) -> None:
    both = {"TOPOLOGY_CM_NAME": "t", "TOPOLOGY_CM_NAMESPACE": "ns"}
    assert read_settings(both).topology_namespace == "ns"
    del both[missing]

    with pytest.raises(UsageError, match=f"{missing} is not set"):
        read_settings(both)
