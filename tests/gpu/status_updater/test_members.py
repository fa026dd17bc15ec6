"""Tests of what is looked at in a node, and said on it."""

from __future__ import annotations

import msgspec
import pytest

from windtunnel.devices import PLAYED
from windtunnel.gpu.status_updater.members import DEPLOY_LABELS, MemberNode

EXPORTER = "nvidia.com/gpu.deploy.dcgm-exporter"


def node(labels: dict[str, str] | None = None, **annotations: str) -> MemberNode:
    metadata = {"labels": labels or {}, "annotations": annotations}
    return msgspec.convert({"metadata": metadata}, MemberNode)


@pytest.mark.parametrize(
    ("member", "missing"),
    [
        (node(), set(DEPLOY_LABELS)),
        (node({EXPORTER: "true"}), set(DEPLOY_LABELS) - {EXPORTER}),
        (node({EXPORTER: "false"}), set(DEPLOY_LABELS)),
        (node(**{PLAYED: "fake"}), {EXPORTER}),
        (node(**{PLAYED: "other"}), set(DEPLOY_LABELS)),
        (node(dict.fromkeys(DEPLOY_LABELS, "true")), set()),
    ],
)
def test_what_is_to_run_is_said_where_it_is_not(member: MemberNode, missing: set[str]) -> None:
    assert member.missing_labels() == dict.fromkeys(missing, "true")


def test_what_was_said_is_taken_back_whatever_its_value() -> None:
    assert node({EXPORTER: "no", "other": "true"}).given_labels() == [EXPORTER]


def test_a_node_without_annotations_is_not_played_and_not_cut() -> None:
    assert (node().played, node().mapping) == (None, "")
