"""Tests of the settings of the MIG faker."""

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.mig_faker import read_settings


def test_the_node_must_be_said() -> None:
    assert read_settings({"NODE_NAME": "n"}).node == "n"
    with pytest.raises(UsageError, match="NODE_NAME is not set"):
        read_settings({})
