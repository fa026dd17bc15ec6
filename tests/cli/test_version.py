"""The version is printed for people and for programs."""

from __future__ import annotations

import json

import pytest

import windtunnel
from windtunnel.cli.root import run


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["version"]) == 0
    assert (
        capsys.readouterr().out == f"windtunnel {windtunnel.__version__} (as Kubernetes v1.36.3)\n"
    )


def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["version", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["kubernetes"] == "v1.36.3"
