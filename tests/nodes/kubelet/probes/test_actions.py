"""What a probe does, by the action that is set."""

from __future__ import annotations

from typing import Any, cast

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.probes import actions
from windtunnel.nodes.kubelet.probes.asking import ProbeReply
from windtunnel.nodes.kubelet.probes.targets import HttpTarget
from windtunnel.nodes.kubelet.runtime.protocol import Ended, ExecTimedOut, Runtime

CONTAINER: Tree = {"name": "main", "ports": [{"name": "web", "containerPort": 80}]}
WELL = ProbeReply(True, "well")


class Programs:
    """A runtime of one container, in which programs come to an end by their name."""

    def exec_sync(self, container_id: str, argv: list[str], timeout_seconds: float) -> Ended:
        assert container_id == "c-1"
        if argv == ["slow"]:
            raise ExecTimedOut(f"after {timeout_seconds}", b"")
        return Ended(0, b"out", b"err") if argv == ["good"] else Ended(3, b"x" * 20_000)


def ask(probe: Tree) -> ProbeReply:
    return actions.ask(probe, CONTAINER, "c-1", "10.42.0.7", cast(Runtime, Programs()))


def test_a_program_is_healthy_by_its_exit_code() -> None:
    assert ask({"exec": {"command": ["good"]}}) == ProbeReply(True, "outerr")
    assert ask({"exec": {"command": ["bad"]}}) == ProbeReply(False, "x" * 10_240)


def test_a_program_that_takes_too_long_is_not_healthy() -> None:
    told = 'command timed out: "slow" timed out after 2s'

    assert ask({"exec": {"command": ["slow"]}, "timeoutSeconds": 2}) == ProbeReply(False, told)


def test_no_program_is_waited_for_longer_than_sockets_can_wait() -> None:
    told = 'command timed out: "slow" timed out after 1e+06s'
    probe = {"exec": {"command": ["slow"]}, "timeoutSeconds": 2**31 - 1}

    assert ask(probe) == ProbeReply(False, told)


ASKED: dict[str, tuple[str, Tree, tuple[Any, ...]]] = {
    "httpGet": ("ask_http", {"port": "web"}, (HttpTarget("http", "10.42.0.7", 80, "/"), 1.0)),
    "tcpSocket": ("ask_tcp", {"port": "web"}, ("10.42.0.7", 80, 1.0)),
    "tcpSocket elsewhere": ("ask_tcp", {"port": 9, "host": "h"}, ("h", 9, 1.0)),
    "grpc": ("ask_grpc", {"port": 9, "service": "s"}, ("10.42.0.7", 9, "s", 1.0)),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_network_is_asked_where_the_action_says(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    function, action, want = ASKED[name]
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(actions, function, lambda *given: asked.append(given) or WELL)

    assert ask({name.split()[0]: action}) is WELL
    assert asked == [want]


def test_a_probe_that_asks_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="missing probe handler for main"):
        ask({})
