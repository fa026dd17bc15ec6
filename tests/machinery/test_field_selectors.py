from __future__ import annotations

import pytest

from windtunnel.machinery.field_selectors import FieldSelector
from windtunnel.machinery.selectors import MalformedSelector


def test_field_terms_may_escape_their_separators() -> None:
    selector = FieldSelector.parse(r"a=x\,y,b!=z")

    assert selector.matches({"a": "x,y"})
    assert not selector.matches({"a": "x,y", "b": "z"})
    assert selector.exact("a") == "x,y"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a.b>c", "invalid selector: 'a.b>c'; can't understand 'a.b>c'"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
    ],
)  # fmt: skip
def test_a_malformed_field_selector_is_refused(text: str, want: str) -> None:
    with pytest.raises(MalformedSelector) as refusal:
        FieldSelector.parse(text)
    assert str(refusal.value) == want
