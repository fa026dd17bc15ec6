from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.schema.patterns import go_pattern

MATCHES = {
    "the end is the end of the text": ("^a$", "a\n", False),
    "a line ends before its end": ("(?m)^a$", "a\nb", True),
    "the written out end": (r"a\z", "a\n", False),
    "a dollar in a class is a dollar": ("^[$]$", "$", True),
    "an escaped dollar too": (r"^\$$", "$", True),
    "classes are ASCII": (r"^\w$", "é", False),
    "a POSIX class": ("^[[:alpha:]_]+$", "a_B", True),
    "a POSIX class and what it lacks": ("^[[:digit:]]$", "a", False),
    "a bracket first in a class": ("^[]a]+$", "]a", True),
    "a bracket first in what a class lacks": ("^[^]a]$", "]", False),
    "a bracket inside a class": ("^[[a]+$", "[a", True),
    "two ampersands in a class": ("^[a&&b]+$", "&", True),
    "quoted text": (r"^\Qa.b\E$", "a.b", True),
    "quoted text is not a pattern": (r"^\Qa.b\E$", "axb", False),
    "a named group": ("^(?<n>a)$", "a", True),
    "a DNS label": ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", True),
    "no letter case": ("(?i)^ab$", "AB", True),
}


@pytest.mark.parametrize(("pattern", "text", "want"), MATCHES.values(), ids=MATCHES.keys())
def test_a_pattern_means_what_it_means_in_go(pattern: str, text: str, want: bool) -> None:
    assert (go_pattern(pattern).search(text) is not None) is want


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "(?<!a)b", r"(a)\1", "[[:frob:]]", "[b-a]"])
def test_what_is_no_pattern_in_go_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="error parsing regexp"):
        go_pattern(pattern)


@given(text=st.text(st.sampled_from("a[]^$\\-&|~(){}*+?.:1zQEd<>=!")))
def test_any_text_is_compiled_or_refused_without_a_warning(text: str) -> None:
    try:
        go_pattern(text)
    except ValueError:
        return


@given(text=st.text(max_size=8))
def test_a_quoted_text_matches_itself(text: str) -> None:
    assert go_pattern("^" + re.escape(text) + "$").search(text) is not None
