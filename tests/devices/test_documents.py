"""Tests of reading YAML."""

import pytest

from windtunnel.devices.documents import load_yaml, without_nulls


@pytest.mark.parametrize(
    "text", ["a: [\n", "a: b: c\n", "\x00", "a: &x [*x, *y]\n", "- 2026-99-99"]
)
def test_what_is_no_yaml_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^yaml: [^\n]+$"):
        load_yaml(text)


def test_aliases_may_stand_for_more_than_is_written_but_not_for_very_much_more() -> None:
    assert load_yaml("a: &x [1, 2]\nb: [*x, *x]\n")["b"] == [[1, 2], [1, 2]]
    assert load_yaml("&x [*x]\n")

    levels = ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(ValueError, match=r"^yaml: document contains excessive aliasing$"):
        load_yaml("\n".join(levels))


def test_nulls_are_left_out() -> None:
    assert without_nulls({"a": None, "b": [None, {"c": None}], "d": 0}) == {"b": [{}], "d": 0}
