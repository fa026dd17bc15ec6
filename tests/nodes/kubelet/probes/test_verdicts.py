"""What a probe's answers come to."""

from __future__ import annotations

from windtunnel.nodes.kubelet.probes.verdicts import Finding, Run

PROBE = {"successThreshold": 2, "failureThreshold": 3}


def test_a_verdict_needs_enough_answers_in_a_row() -> None:
    run = Run()
    answers = [False, False, True, False, False, False, True, True]

    assert [run.add(each, PROBE) for each in answers] == [
        None, None, None, None, None, Finding.UNHEALTHY, None, Finding.HEALTHY,
    ]  # fmt: skip


def test_one_success_is_enough_where_nothing_is_said() -> None:
    assert Run().add(True, {}) is Finding.HEALTHY
