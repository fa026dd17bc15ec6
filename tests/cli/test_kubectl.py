"""Tests of the verb that runs kubectl on a cluster."""

from __future__ import annotations

import pytest

from windtunnel.cli import root


def test_our_own_help_needs_no_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert root.run(["kubectl", "--help"]) == 0
    assert "windtunnel kubectl -- get pods" in capsys.readouterr().out
