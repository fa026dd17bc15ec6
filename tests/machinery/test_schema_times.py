"""Times with fractions: what is canonical is seen at once, all else is read as before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.schema.values import Unreadable, canonical_micro_time

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS)
def test_what_is_canonical_stays_as_it_is(moment: datetime) -> None:
    text = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")

    assert canonical_micro_time(text) == text


@given(MOMENTS)
def test_an_offset_of_nothing_is_written_as_zulu(moment: datetime) -> None:
    text = moment.strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0")

    assert canonical_micro_time(f"{text}+00:00") == f"{text}Z"


OUT_OF_RANGE = {
    "2026-13-01T00:00:00.000000Z": "month out of range",
    "2026-02-30T00:00:00.000000Z": "day out of range",
    "2026-01-01T24:00:00.000000Z": "hour out of range",
    "2026-01-01T00:00:60.000000Z": "second out of range",
}


@pytest.mark.parametrize(("text", "why"), OUT_OF_RANGE.items())
def test_a_form_alone_makes_no_time(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        canonical_micro_time(text)
