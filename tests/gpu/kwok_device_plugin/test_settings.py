"""Tests of the settings of the device plugin of played nodes."""

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.kwok_device_plugin import read_settings


def test_the_name_must_be_set_and_the_namespace_has_a_default() -> None:
    assert read_settings({"TOPOLOGY_CM_NAME": "t"}).topology_namespace == "gpu-operator"
    with pytest.raises(UsageError, match="TOPOLOGY_CM_NAME is not set"):
        read_settings({})
