"""Tests of settings in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu import environment


def test_what_is_required_is_named_when_it_is_missing() -> None:
    assert environment.require({"A": "x"}, "A") == "x"
    for missing in ({}, {"A": ""}):
        with pytest.raises(UsageError, match=r"^A is not set$"):
            environment.require(missing, "A")


@pytest.mark.parametrize(
    ("text", "want"), [("true", True), ("1", True), ("yes", False), ("", False), ("false", False)]
)
def test_a_flag_is_set_by(text: str, want: bool) -> None:
    assert environment.flag({"A": text}, "A") is want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("30s", 30), ("1m30s", 90), ("1.5h", 5400), ("250ms", 0.25),
        ("", 7), ("0s", 7), ("10", 7), ("ten", 7), ("-3s", 7),
    ],
)  # fmt: skip
def test_a_span_of_time_is_read(text: str, want: float) -> None:
    assert environment.seconds({"A": text}, "A", 7) == pytest.approx(want)


@pytest.mark.parametrize("text", ["65536", "-1", "x", "²"])
def test_what_is_no_port_is_named(text: str) -> None:
    assert environment.port({"A": "0"}, "A", 7) == 0
    assert environment.port({"A": ""}, "A", 7) == 7
    with pytest.raises(UsageError, match=f"^A is '{text}', which is no port$"):
        environment.port({"A": text}, "A", 7)


def test_what_is_mounted_lies_under_the_root_unless_the_node_says_where() -> None:
    assert environment.container_root({}) == Path("/")
    assert environment.container_root({"WINDTUNNEL_ROOT": "/x/root"}) == Path("/x/root")
