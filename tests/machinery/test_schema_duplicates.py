from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.schema import duplicate_fields, texts_in_order

FOUND = {
    "none": ('{"a":1,"b":{"a":2}}', ()),
    "at the top": ('{"a":1,"a":2}', ("a",)),
    "inside": ('{"data":{"a":"1","a":"2"}}', ("data.a",)),
    "inside a list": ('{"c":[{},{"n":1,"n":1}]}', ("c[1].n",)),
    "given three times, told twice": ('{"a":1,"a":2,"a":3}', ("a", "a")),
    "with spaces before the colon": ('{"a" :1,"a":2}', ("a",)),
    "a text that looks like a key": ('{"a":"\\"a\\":"}', ()),
    "a text that hides a key": ('{"a":"\\u0022:","b":1,"b":2}', ("b",)),
    "spread over lines": ('{\n  "a": 1,\n  "a": 2\n}', ("a",)),
}


@pytest.mark.parametrize(("body", "want"), FOUND.values(), ids=FOUND.keys())
def test_fields_that_are_given_twice_are_found(body: str, want: tuple[str, ...]) -> None:
    assert duplicate_fields(body.encode(), json.loads(body)) == want


def test_duplicate_and_unknown_fields_are_told_in_the_order_of_the_document() -> None:
    body = b'{"spec":{"foo":1,"hostname":"a","hostname":"b","containers":[{"bar":1}]}}'

    texts = texts_in_order(body, ["spec.hostname"], ["spec.foo", "spec.containers[0].bar"])

    assert texts == [
        'unknown field "spec.foo"',
        'duplicate field "spec.hostname"',
        'unknown field "spec.containers[0].bar"',
    ]


keys = st.text(st.characters(codec="ascii"), max_size=4)
values = st.recursive(
    st.none() | st.integers() | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
)


@given(tree=st.dictionaries(keys, values, max_size=4), indent=st.sampled_from([None, 2]))
def test_what_was_written_from_a_tree_has_none(tree: object, indent: int | None) -> None:
    body = json.dumps(tree, indent=indent).encode()

    assert duplicate_fields(body, tree) == ()


@given(tree=st.dictionaries(keys, values, min_size=1, max_size=4), data=st.data())
def test_one_that_is_added_is_found(tree: dict[str, object], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(tree)))
    body = f"{json.dumps(tree)[:-1]}, {json.dumps(key)}: 1}}".encode()

    assert len(duplicate_fields(body, json.loads(body))) == 1
