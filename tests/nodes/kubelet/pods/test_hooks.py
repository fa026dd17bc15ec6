"""Lifecycle hooks of a container."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nodes.kubelet.bench import HOLD, Bench

from windtunnel.nodes.kubelet.pods import hooks
from windtunnel.nodes.kubelet.probes.asking import ProbeReply
from windtunnel.nodes.kubelet.probes.targets import HttpTarget

FETCH = {"httpGet": {"path": "/x", "port": 8099}}
GOOD, BAD = ("good",), ("sh", "-c", "exit 3")


def hook(*command: str) -> dict[str, Any]:
    return {"exec": {"command": list(command)}}


def test_a_post_start_hook_is_run_once_the_container_runs(bench: Bench) -> None:
    bench.runtime.answers[GOOD] = (0, b"")
    bench.pod("p", {"command": HOLD, "lifecycle": {"postStart": hook(*GOOD)}})

    assert bench.runtime.asked == [GOOD]
    assert bench.status("p")["phase"] == "Running"


def test_a_post_start_hook_that_fails_kills_the_container(bench: Bench) -> None:
    bench.runtime.answers[BAD] = (3, b"well\n", b"oh")
    uid = bench.pod("p", {"command": HOLD, "lifecycle": {"postStart": hook(*BAD)}})
    waits = bench.state("p")["state"]["waiting"]

    assert waits["reason"] == "PostStartHookError"
    assert waits["message"] == (
        f'Exec lifecycle hook ([sh -c exit 3]) for Container "main" in Pod "p_default({uid})" '
        "failed - error: command 'sh -c exit 3' exited with 3: oh, message: \"well\\noh\""
    )
    assert ("FailedPostStartHook", "PostStartHook failed") in bench.events("p")
    bench.run(5)
    assert bench.state("p")["state"]["waiting"] == waits
    assert ("Killing", "FailedPostStartHook") in bench.events("p")


@pytest.mark.parametrize("status", [200, 404])
def test_a_hook_that_fetches_is_content_with_any_answer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(hooks, "ask_http", lambda *_, **__: ProbeReply(status == 200, "said"))
    bench.pod("p", {"command": HOLD, "lifecycle": {"postStart": FETCH}})

    assert "running" in bench.state("p")["state"]


def test_a_hook_that_nobody_answers_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = ProbeReply(False, "nobody there", answered=False)
    monkeypatch.setattr(hooks, "ask_http", lambda *_, **__: nobody)
    uid = bench.pod("p", {"command": HOLD, "lifecycle": {"postStart": FETCH}})

    assert bench.state("p")["state"]["waiting"]["message"] == (
        f'HTTP lifecycle hook (/x) for Container "main" in Pod "p_default({uid})" '
        "failed - error: nobody there"
    )


def test_a_pre_stop_hook_is_run_before_the_end_and_takes_from_the_grace(bench: Bench) -> None:
    bench.pod("p", {"command": HOLD, "lifecycle": {"preStop": {"sleep": {"seconds": 4}}}})
    bench.delete("p", grace=10)
    bench.run(3)
    assert bench.runtime.stopped == []

    bench.run(2)

    assert [(name, round(left)) for name, left in bench.runtime.stopped] == [("main", 6)]


def test_a_pre_stop_hook_that_fails_does_not_keep_the_container(bench: Bench) -> None:
    bench.runtime.answers[BAD] = (3, b"secret")
    bench.pod("p", {"command": HOLD, "lifecycle": {"preStop": hook(*BAD)}})
    bench.delete("p")
    bench.run(1)

    assert bench.world.names("pods") == []
    assert bench.events("p")[-1] == ("FailedPreStopHook", "PreStopHook failed")


def test_a_hook_that_takes_all_the_grace_leaves_the_least(bench: Bench) -> None:
    bench.pod("p", {"command": HOLD, "lifecycle": {"preStop": {"sleep": {"seconds": 60}}}})
    bench.delete("p", grace=5)
    bench.run(6)

    assert bench.runtime.stopped == [("main", 2.0)]


def test_a_hook_of_a_pod_on_the_host_s_network_needs_a_host(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts: list[str] = []

    def fetch(target: HttpTarget, *_: object, **__: object) -> ProbeReply:
        hosts.append(target.host)
        return ProbeReply(True, "")

    monkeypatch.setattr(hooks, "ask_http", fetch)
    ports = [{"containerPort": 8099, "hostPort": 8099}]
    there = {"httpGet": {**FETCH["httpGet"], "host": "h"}}
    lifecycle = {"postStart": FETCH, "preStop": there}
    bench.pod("p", {"command": HOLD, "lifecycle": lifecycle, "ports": ports}, hostNetwork=True)

    message = bench.state("p")["state"]["waiting"]["message"]
    assert message.endswith("failed - error: failed to find networking container")
    assert set(hosts) == {"h"}
