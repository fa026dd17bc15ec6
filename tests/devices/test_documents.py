"""Tests of reading YAML."""

import pytest

from windtunnel.devices.documents import load_yaml, without_nulls


@pytest.mark.parametrize(
    "text", ["a: [\n", "a: b: c\n", "\x00", "a: &x [*x, *y]\n", "- 2026-99-99"]
)
def test_what_is_no_yaml_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^yaml: [^\n]+$"):
        load_yaml(text)


def test_nulls_are_left_out() -> None:
    assert without_nulls({"a": None, "b": [None, {"c": None}], "d": 0}) == {"b": [{}], "d": 0}
