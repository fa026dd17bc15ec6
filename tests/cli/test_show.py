"""The same numbers as a table, as JSON and as YAML."""

from __future__ import annotations

import json

import pytest
import yaml

from windtunnel.cli.show import draw, progress, show

TREE = {"nodes": {"a": 8}, "free": 3}


def test_json_and_yaml_carry_the_tree_in_its_order(capsys: pytest.CaptureFixture[str]) -> None:
    show(TREE, "json", lambda: None)
    text = capsys.readouterr().out
    assert json.loads(text) == TREE
    assert text.index("nodes") < text.index("free")

    show(TREE, "yaml", lambda: None)
    assert yaml.safe_load(capsys.readouterr().out) == TREE


def test_a_table_leaves_nothing_out_where_nobody_looks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "x" * 300

    draw(("NAME", "#GPUS"), [(long, 8), ("b", 16)], footer=("total", 24))

    printed = capsys.readouterr().out
    assert long in printed
    assert "\x1b" not in printed
    lines = [line.split() for line in printed.splitlines() if line.strip(" ─")]
    assert lines == [["NAME", "GPUS"], [long, "8"], ["b", "16"], ["total", "24"]]


def test_a_narrow_terminal_cuts_no_column(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")

    draw(("NAME", "PRODUCT", "#GPUS"), [("h100-0", "NVIDIA-H100-80GB-HBM3", 8)])

    row = next(line for line in capsys.readouterr().out.splitlines() if "h100-0" in line)
    assert row.split() == ["h100-0", "NVIDIA-H100-80GB-HBM3", "8"]


def test_progress_is_shown_on_the_error_stream_only(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(3, "Working") as done:
        done(3)

    assert capsys.readouterr().out == ""
