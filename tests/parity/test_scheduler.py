"""Our decisions against those of the real scheduler's code."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

import pytest

from windtunnel.errors import DataError
from windtunnel.machinery.tree import Tree, decode, encode
from windtunnel.parity.scheduler import ScenarioReplay, replay, scenarios

OWN = Path(__file__).with_name("scheduler_answers.jsonl.gz")

KNOWN: Final = {
    "hand-batching": "opportunistic batching only acts in profiles that ask for it",
    "hand-dra-basic": "device claims",
    "hand-dra-missing-claim": "device claims",
    "hand-dra-selector": "device claims",
    "hand-gang-basic": "gangs are behind alpha gates",
    "hand-gang-below-min": "gangs are behind alpha gates",
    "hand-gang-fits": "gangs are behind alpha gates",
    "hand-gang-no-group": "gangs are behind alpha gates",
    "hand-gang-partial-ok": "gangs are behind alpha gates",
    "hand-gang-too-big": "gangs are behind alpha gates",
    "hand-pvc-bound-local": "volumes",
    "hand-pvc-immediate-unbound": "volumes",
    "hand-pvc-missing": "volumes",
}
"""Scenarios we do not decide as the real scheduler does, and why; a mended one must leave."""


@pytest.mark.shared
def test_every_recorded_scenario_but_the_known_ones_is_met(shared: Path) -> None:
    report = replay(shared / "golden/scheduler/public.jsonl.gz")

    failed = {outcome.case for outcome in report.outcomes if outcome.differences}
    assert failed == set(KNOWN)


@pytest.mark.parametrize("scenario", list(scenarios(OWN)), ids=lambda scenario: scenario["id"])
def test_a_corner_that_was_once_decided_otherwise(scenario: Tree, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(encode(scenario))

    (outcome,) = replay(path).outcomes

    assert outcome.differences == ()


def test_a_scenario_played_twice_ends_the_same_way() -> None:
    first, second = (
        [encode(ScenarioReplay(scenario).results()) for scenario in scenarios(OWN)]
        for _ in range(2)
    )

    assert first == second


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_results_are_emitted_in_the_recordings_format(name: str, tmp_path: Path) -> None:
    out = tmp_path / name
    replay(OWN, out)

    body = gzip.decompress(out.read_bytes()) if name.endswith(".gz") else out.read_bytes()
    emitted = [decode(line) for line in body.splitlines()]
    assert [one["id"] for one in emitted] == [one["id"] for one in scenarios(OWN)]


def test_a_scenario_that_cannot_be_played_is_a_difference(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    config = {"extenders": [{"urlPrefix": "http://nowhere"}]}
    broken = {
        "id": "x",
        "features": [],
        "config": config,
        "objects": [],
        "steps": [],
        "results": [],
    }
    path.write_bytes(encode(broken))

    (outcome,) = replay(path).outcomes

    (line,) = outcome.differences
    assert "extenders are not supported" in line


@pytest.mark.parametrize("content", [b"\x00\xff", b"{}", b"[1,2]", b'{"id":"x","steps":[{}]}'])
@pytest.mark.parametrize("name", ["cases.jsonl", "cases.jsonl.gz"])
def test_what_is_no_recording_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(DataError, match="holds no recorded scenarios"):
        replay(tmp_path / name)
