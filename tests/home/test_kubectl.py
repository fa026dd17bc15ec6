"""kubectl is the one in $KUBECTL or on PATH; without one there is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.errors import UsageError
from windtunnel.home import find_kubectl


def make_program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_named_one_wins_over_the_one_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = make_program(tmp_path / "kubectl")
    named = make_program(tmp_path / "other")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("KUBECTL", raising=False)
    assert find_kubectl() == str(on_path)

    monkeypatch.setenv("KUBECTL", str(named))
    assert find_kubectl() == str(named)


def test_without_any_there_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("KUBECTL", raising=False)
    with pytest.raises(UsageError, match="there is no kubectl on PATH"):
        find_kubectl()

    monkeypatch.setenv("KUBECTL", str(tmp_path / "gone"))
    with pytest.raises(UsageError, match="which is no program"):
        find_kubectl()
