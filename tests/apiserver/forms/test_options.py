from __future__ import annotations

import pytest

from windtunnel.apiserver.forms.options import (
    delete_options,
    list_options,
    revision,
    write_options,
)
from windtunnel.machinery.errors import ApiError, BadRequest, Invalid

REFUSED_LISTS = {
    "a match without revision": (
        [("resourceVersionMatch", "Exact")],
        "unless resourceVersion is provided",
    ),
    "an unknown match": (
        [("resourceVersionMatch", "X"), ("resourceVersion", "1")],
        "Unsupported value",
    ),
    "exactly nothing": (
        [("resourceVersionMatch", "Exact"), ("resourceVersion", "0")],
        'forbidden for resourceVersion "0"',
    ),
    "initial events": ([("sendInitialEvents", "true")], "forbidden for list"),
}
REFUSED_WATCHES = {
    "initial events without match": ([("sendInitialEvents", "true")], "requires setting"),
    "a match without initial events": (
        [("resourceVersionMatch", "NotOlderThan")],
        "forbidden for watch",
    ),
    "a page": ([("continue", "x")], "continue is forbidden"),
}


@pytest.mark.parametrize(("query", "words"), REFUSED_LISTS.values(), ids=REFUSED_LISTS)
def test_lists_refuse(query: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        list_options(query, watch=False)


@pytest.mark.parametrize(("query", "words"), REFUSED_WATCHES.values(), ids=REFUSED_WATCHES)
def test_watches_refuse(query: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        list_options(query, watch=True)


def test_a_limit_is_a_number() -> None:
    with pytest.raises(BadRequest, match='parsing "abc"'):
        list_options([("limit", "abc")], watch=False)


@pytest.mark.parametrize("text", ["18446744073709551616", "9" * 5000])
def test_a_revision_has_64_bits(text: str) -> None:
    with pytest.raises(ApiError, match="value out of range"):
        revision(text)
    assert revision("0" * 5000 + "7") == 7


def test_a_revision_is_a_number() -> None:
    assert revision("") == 0
    with pytest.raises(ApiError, match="invalid syntax") as refused:
        revision("abc")
    assert refused.value.code == 500


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ([("dryRun", "x")], 'supported values: "All"'),
        ([("fieldValidation", "x")], '"Strict", "Warn"'),
        ([("force", "true")], "may not be specified for non-apply patch"),
        ([("fieldManager", "x" * 129)], "may not be more than 128 bytes"),
        ([("fieldManager", "a\nb")], "printable"),
    ],
)
def test_writes_refuse(query: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        write_options(query, "PatchOptions")


def test_an_apply_names_its_manager() -> None:
    with pytest.raises(Invalid, match="is required for apply patch"):
        write_options([], "PatchOptions", apply=True)
    found = write_options([("fieldManager", "m"), ("force", "1")], "PatchOptions", apply=True)
    assert (found.manager, found.force) == ("m", True)


def test_a_body_wins_over_the_query_of_a_delete() -> None:
    query = [("gracePeriodSeconds", "5"), ("propagationPolicy", "Orphan"), ("dryRun", "All")]

    by_query = delete_options(query, None)
    assert (by_query.grace_seconds, by_query.propagation, by_query.dry_run) == (5, "Orphan", True)
    by_body = delete_options(query, {"gracePeriodSeconds": 1, "preconditions": {"uid": "u"}})
    assert (by_body.grace_seconds, by_body.propagation, by_body.uid) == (1, None, "u")


def test_two_ways_to_treat_dependents_are_one_too_many() -> None:
    with pytest.raises(Invalid, match="cannot be both set"):
        delete_options([], {"propagationPolicy": "Foreground", "orphanDependents": True})
