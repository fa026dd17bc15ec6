"""Probing containers: when each is asked, and what its answers come to."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nodes.kubelet.bench import HOLD, Bench

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.probes import actions
from windtunnel.nodes.kubelet.probes.asking import ProbeReply

GOOD, BAD = ("good",), ("bad",)


def probe(*command: str, **rest: Any) -> Tree:
    return {"exec": {"command": list(command)}, "periodSeconds": 1, **rest}


def asking(bench: Bench) -> None:
    bench.runtime.answers |= {GOOD: (0, b""), BAD: (1, b"not yet\n")}


def test_a_container_is_not_ready_before_its_probe_says_so(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "readinessProbe": probe(*GOOD)})

    first = next(each for each in bench.statuses["p"] if each.get("podIP"))
    assert first["containerStatuses"][0]["ready"] is False
    assert bench.condition("p", "Ready") == ("True", "")


def test_a_readiness_probe_that_fails_takes_a_pod_out_without_restarting_it(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "readinessProbe": probe(*GOOD, failureThreshold=1)})
    bench.runtime.answers[GOOD] = (1, b"not yet\n")
    bench.run(1)

    assert bench.condition("p", "Ready") == ("False", "ContainersNotReady")
    assert bench.state("p")["restartCount"] == 0
    assert bench.events("p")[-1] == ("Unhealthy", "Readiness probe failed: not yet\n")


def test_a_liveness_probe_restarts_after_enough_failures(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "livenessProbe": probe(*BAD, failureThreshold=3)})
    bench.run(1.5)
    assert bench.state("p")["restartCount"] == 0

    bench.run(2)

    assert bench.state("p")["restartCount"] == 1
    assert (
        "Killing",
        "Container main failed liveness probe, will be restarted",
    ) in bench.events("p")


def test_a_probe_waits_for_its_initial_delay(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "livenessProbe": probe(*BAD, initialDelaySeconds=30)})
    bench.run(28)

    assert bench.runtime.asked == []


def test_other_probes_wait_for_the_startup_probe(bench: Bench) -> None:
    asking(bench)
    bench.runtime.answers[("up",)] = (1, b"")
    container = {
        "command": HOLD,
        "startupProbe": probe("up", failureThreshold=30),
        "livenessProbe": probe(*BAD, failureThreshold=1),
        "readinessProbe": probe(*GOOD),
    }
    bench.pod("p", container)
    bench.run(5)
    assert set(bench.runtime.asked) == {("up",)}
    assert (bench.state("p")["started"], bench.state("p")["ready"]) == (False, False)

    bench.runtime.answers |= {("up",): (0, b""), BAD: (0, b"")}
    bench.run(2)

    assert (bench.state("p")["started"], bench.state("p")["ready"]) == (True, True)
    assert bench.state("p")["restartCount"] == 0


def test_a_startup_probe_that_never_succeeds_restarts(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "startupProbe": probe(*BAD, failureThreshold=2)})
    bench.run(2.5)

    assert bench.state("p")["restartCount"] == 1


def test_a_container_that_never_started_was_never_ready(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "startupProbe": probe(*BAD, failureThreshold=2)})
    bench.run(4.5)

    assert bench.state("p")["restartCount"] == 2
    assert {
        each["ready"]
        for status in bench.statuses["p"]
        for each in status.get("containerStatuses") or ()
    } == {False}


def test_an_answer_that_is_doubtful_is_healthy_and_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = ProbeReply(True, "it is elsewhere", doubtful=True)
    monkeypatch.setattr(actions, "ask_http", lambda *_: elsewhere)
    bench.pod("p", {"command": HOLD, "readinessProbe": {"httpGet": {"port": 1}}})
    bench.run(1)

    assert bench.state("p")["ready"]
    assert ("ProbeWarning", "Readiness probe warning: it is elsewhere") in bench.events("p")


def test_a_probe_that_cannot_be_asked_never_counts(bench: Bench) -> None:
    bench.pod("p", {"command": HOLD, "livenessProbe": probe("nothing", failureThreshold=1)})
    bench.run(5)

    assert bench.state("p")["restartCount"] == 0
    assert bench.events("p")[-1] == (
        "Unhealthy",
        "Liveness probe errored and resulted in unknown state: no such program",
    )


def test_a_pod_stays_ready_over_a_restart_of_the_kubelet(bench: Bench) -> None:
    asking(bench)
    bench.pod("p", {"command": HOLD, "readinessProbe": probe(*GOOD, periodSeconds=10)})
    seen = len(bench.statuses["p"])
    bench.restart()
    bench.run(30)

    assert bench.statuses["p"][seen:] == []
