"""Tests of what the agent for channels must be told."""

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.kwok_compute_domain import check


def test_the_namespace_of_the_operator_must_be_said() -> None:
    check({"FAKE_GPU_OPERATOR_NAMESPACE": "gpu-operator"})
    with pytest.raises(UsageError, match="FAKE_GPU_OPERATOR_NAMESPACE is not set"):
        check({})
