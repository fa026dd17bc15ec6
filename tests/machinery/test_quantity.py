from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.quantity import (
    MalformedQuantity,
    Quantity,
    canonical,
    compare,
    parse,
    to_int,
    to_milli,
)

CANONICAL = {
    "0": "0", "0.5": "500m", "1000m": "1", "1Ki": "1Ki", "1024Mi": "1Gi", "1.5Gi": "1536Mi",
    "0.1Gi": "107374182400m", "1e3": "1e3", "1000": "1k", "1024": "1024", "100m": "100m",
    "0.0000000001": "1n", "-0.5": "-500m", "512": "512", "1000Ki": "1000Ki", "+4": "4",
    "1.0": "1", "12e4": "120e3", "1E": "1E", ".5": "500m", "0Gi": "0", "0.5Ki": "512",
}  # fmt: skip


@pytest.mark.parametrize(("text", "want"), CANONICAL.items())
def test_a_quantity_is_printed_as_the_server_prints_it(text: str, want: str) -> None:
    assert canonical(text) == want


@pytest.mark.parametrize(("number", "want"), [(4, "4"), (0.5, "500m"), (1000, "1k"), (2.0, "2")])
def test_a_json_number_is_a_quantity_too(number: float, want: str) -> None:
    assert canonical(number) == want


@pytest.mark.parametrize("text", ["", "abc", "1.2.3", "1Xi", "1e", "5 Gi", "1KiB", "1e9999"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(MalformedQuantity):
        parse(text)


def test_what_is_lost_is_rounded_up() -> None:
    assert (to_milli("1.0001"), to_int("100m"), to_int("-100m")) == (1001, 1, -1)


def test_the_order_ignores_the_notation() -> None:
    assert compare("1024Mi", "1Gi") == 0
    assert compare("999M", "1Gi") == -1
    assert parse("1k") == parse("1000")


def test_a_sum_is_written_like_its_left_side() -> None:
    assert str(parse("1Gi") + parse("1073741824")) == "2Gi"
    assert str(Quantity(0) + parse("1Gi")) == "1Gi"
    assert str(parse("2") - parse("500m")) == "1500m"


amounts = st.integers(min_value=-(2**62), max_value=2**62)


@given(amounts, st.sampled_from(["decimal", "binary", "exponent"]))
def test_the_canonical_text_means_the_same_amount(nanos: int, notation: str) -> None:
    quantity = Quantity(nanos, notation)  # type: ignore[arg-type]

    assert parse(str(quantity)) == quantity


@given(amounts, amounts)
def test_adding_and_subtracting_undo_each_other(left: int, right: int) -> None:
    assert Quantity(left) + Quantity(right) - Quantity(right) == Quantity(left)
