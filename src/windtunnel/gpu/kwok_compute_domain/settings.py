"""What an agent for the channels of played nodes must be told, though it does not use it."""

from __future__ import annotations

from collections.abc import Mapping

from windtunnel.gpu.environment import require


def check(environment: Mapping[str, str]) -> None:
    """See that the agent runs where the chart runs it, as the original does.

    Raises:
        UsageError: the operator's namespace is not said.
    """
    require(environment, "FAKE_GPU_OPERATOR_NAMESPACE")
