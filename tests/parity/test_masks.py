"""What differs from run to run is masked, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.parity.masks import Masks

UID = "0b5d5c7e-1111-4222-8333-444455556666"
CAPTURED = {"pod": UID, "rv": "17"}

CASES: dict[str, tuple[Any, Any]] = {
    "a uid": ({"uid": "0b5d5c7e-1111-4222-8333-000000000000"}, {"uid": "<UID>"}),
    "a captured uid keeps its name": ({"uid": UID}, {"uid": "<UID:pod>"}),
    "a uid inside a text": ({"m": f"uid {UID}!"}, {"m": "uid <UID:pod>!"}),
    "a revision": ({"resourceVersion": "5"}, {"resourceVersion": "<RV>"}),
    "a captured revision keeps its name": (
        {"resourceVersion": "17"},
        {"resourceVersion": "<RV:rv>"},
    ),
    "no revision stays none": ({"resourceVersion": "0"}, {"resourceVersion": "0"}),
    "a time": ({"t": "2026-01-02T03:04:05Z"}, {"t": "<TIME>"}),
    "a time with six digits": ({"t": "2026-01-02T03:04:05.000001Z"}, {"t": "<MICROTIME>"}),
    "Go's example of a layout stays": (
        {"t": "2006-01-02T15:04:05Z"},
        {"t": "2006-01-02T15:04:05Z"},
    ),
    "a generated name": (
        {"generateName": "web-", "name": "web-x7k2p"},
        {"generateName": "web-", "name": "web-<GEN>"},
    ),
    "a chosen name stays": (
        {"generateName": "web-", "name": "web-0"},
        {"generateName": "web-", "name": "web-0"},
    ),
    "a drawn service address": ({"clusterIP": "10.96.3.4"}, {"clusterIP": "<IP>"}),
    "a chosen service address stays": ({"clusterIP": "10.96.9.9"}, {"clusterIP": "10.96.9.9"}),
    "a drawn node port": ({"nodePort": 31000}, {"nodePort": "<NODEPORT>"}),
    "a chosen node port stays": ({"nodePort": 30999}, {"nodePort": 30999}),
    "an age in a table": ({"cells": ["p", "3m5s"]}, {"cells": ["p", "<AGE>"]}),
    "the same text elsewhere stays": ({"name": "3m5s"}, {"name": "3m5s"}),
    "managers": ({"managedFields": [1], "a": 1}, {"a": 1}),
    "documentation of columns": (
        {"columnDefinitions": [{"name": "N", "description": "x"}]},
        {"columnDefinitions": [{"name": "N"}]},
    ),
    "a Go struct in a message": (
        {"m": 'Invalid value: {"Name":"x","Items":[]}: no'},
        {"m": "Invalid value: <GOVALUE>: no"},
    ),
    "plain JSON in a message stays": (
        {"m": 'Invalid value: {"name":"x"}: no'},
        {"m": 'Invalid value: {"name":"x"}: no'},
    ),
}


@pytest.mark.parametrize(("tree", "want"), CASES.values(), ids=CASES)
def test_masked(tree: Any, want: Any) -> None:
    assert Masks(CAPTURED, asked="10.96.9.9 30999").over(tree) == want


def test_managers_are_kept_where_they_count() -> None:
    assert Masks({}, keep_managers=True).over({"managedFields": []}) == {"managedFields": []}
