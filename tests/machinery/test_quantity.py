from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.quantity import (
    ZERO,
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
    "0.0000000001": "1n", "-0.5": "-500m", "512": "512", "1000Ki": "1000Ki", "+4": "+4",
    "5.123": "5.123", "004": "004", "1.Gi": "1.Gi", "9Ti": "9Ti", "0.123": "123m", "4.000": "4",
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


IN_64_BITS = [
    ("9223372036854775807", "9223372036854775807", 9223372036854775807, -1000),
    ("9223372036854775808", "9223372036854775808", -9223372036854775808, 0),
    ("99999999999999999999", "99999999999999999999", 7766279631452241919, 200376420520688664),
    ("9999999999999999999", "9999999999999999999", -8446744073709551617, 1864712049423023128),
    ("10000000000000000000", "10E", -8446744073709551616, 1864712049423024128),
    ("10E", "10E", 0, 0),
    ("1e18", "1e18", 1000000000000000000, 0),
    ("1e19", "10e18", 0, 0),
    ("1e30", "1e30", 0, 0),
    ("1e40", "10e39", 0, 0),
    ("9300e15", "9300e15", 0, 0),
    (
        "123456789012345678901234567890m",
        "123456789012345678901234567890m",
        -1055827308501316728,
        -4362896299872285998,
    ),
    ("7Ei", "7Ei", 8070450532247928832, -9223372036854775808),
    ("8Ei", "9223372036854775807", 9223372036854775807, -1000),
    ("16Ei", "9223372036854775807", 9223372036854775807, -1000),
    ("531540851529461e3", "531540851529461e3", 531540851529461000, -3414726608115996864),
    ("46292858786826637G", "46292858786826637G", -1782654504871968256, 0),
    ("30T 86838738069560423k", "86838768069560423k", -5394952298987335080, -8503029464146008128),
    ("9223372036854775807 9223372036854775807", "18446744073709551614", -2, -2000),
    ("5E 5E", "10E", 0, 0),
    ("7Ei 7Ei", "14Ei", -2305843009213693952, 0),
    ("1e30 1", "1000000000000000000000000000001", 5076944270305263617, 4089650035136922600),
    ("1 1e30", "1000000000000000000000000000001", 5076944270305263617, 4089650035136922600),
    ("1 1", "2", 2, 2000),
    ("9223372036854775807 1m", "9223372036854775807001m", -9223372036854775808, -999),
    ("1000E", "1", 0, 0),
]
"""Texts to add up, the sum as it is printed, its units and its thousandths, as resource.Quantity of
apimachinery v0.36.3 answers."""


@pytest.mark.parametrize(("texts", "printed", "units", "milli"), IN_64_BITS)
def test_what_does_not_fit_64_bits_is_counted_as_the_real_server_counts_it(
    texts: str, printed: str, units: int, milli: int
) -> None:
    total = sum(map(parse, texts.split()), ZERO)

    assert (str(total), total.units, total.milli) == (printed, units, milli)


@pytest.mark.parametrize("text", ["9" * 1001, "9" * 5000, f"0.{'9' * 5000}", f"1e{'9' * 5000}"])
def test_more_digits_than_anybody_means_are_refused(text: str) -> None:
    with pytest.raises(MalformedQuantity):
        parse(text)


quantity_texts = st.from_regex(
    r"[0-9]{1,40}(\.[0-9]{0,20})?(|[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,3})", fullmatch=True
)


@given(st.lists(quantity_texts, min_size=1, max_size=4))
def test_any_quantities_and_their_sum_can_be_counted_and_printed(texts: list[str]) -> None:
    total = sum(map(parse, texts), ZERO)

    assert -(2**63) <= total.units < 2**63
    assert -(2**63) <= total.milli < 2**63
    assert str(total)


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
