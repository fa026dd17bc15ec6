"""Tests of what is looked at in metadata."""

from __future__ import annotations

import msgspec
import pytest

from windtunnel.gpu.marks import Marks

NOTES = {
    "the annotation says so": ({"kwok.x-k8s.io/node": "fake"}, True),
    "another word does not": ({"kwok.x-k8s.io/node": "other"}, False),
    "nothing is said": ({}, False),
}


@pytest.mark.parametrize(("notes", "want"), NOTES.values(), ids=NOTES.keys())
def test_what_is_played_has_a_mark(notes: dict[str, str], want: bool) -> None:
    tree = {"name": "n", "annotations": notes, "deletionTimestamp": "2026-01-01T00:00:00Z"}

    assert msgspec.convert(tree, Marks).played is want
