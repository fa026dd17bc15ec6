from __future__ import annotations

import pytest
from tests.kinds.replay import answers, judge

from windtunnel.kinds.rules.json_annotations import UnreadableError, read_json, read_list
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("json_annotations"))
def test_requests_are_answered_as_the_real_server_answered_them(case: Tree) -> None:
    judge(case)


def test_fields_match_in_any_case_and_unknown_ones_are_left_out() -> None:
    text = '[{"KEY": "a", "seconds": 3, "other": []}, null, {"key": null}]'
    fields = {"key": str, "seconds": int}
    assert read_list(text, "Thing", fields) == [{"key": "a", "seconds": 3}, {}, {}]


def test_null_is_an_empty_list() -> None:
    assert read_list("null", "Thing", {}) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "unexpected end of JSON input"),
        ("[1", "unexpected end of JSON input"),
        (" nope", "invalid character 'n' looking for beginning of value"),
        ("3", "json: cannot unmarshal number into Go value of type []core.Thing"),
        ('["a"]', "json: cannot unmarshal string into Go value of type core.Thing"),
        ('[{"n": true}]', "json: cannot unmarshal bool into Go struct field Thing.N of type int64"),
    ],
)
def test_what_cannot_be_read_is_worded_as_go_does(text: str, words: str) -> None:
    with pytest.raises(UnreadableError) as problem:
        read_list(text, "Thing", {"n": int})
    assert str(problem.value) == words


def test_values_are_read_as_they_are() -> None:
    assert read_json('{"a": [1, "b"]}') == {"a": [1, "b"]}
