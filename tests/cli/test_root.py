"""Whatever goes wrong ends as one sentence and an exit code, never as a traceback."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from windtunnel.cli import root
from windtunnel.errors import DataError
from windtunnel.machinery.errors import Forbidden


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WINDTUNNEL_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.delenv("KUBECTL", raising=False)
    return tmp_path


WRONG = {
    "an unknown command, with a suggestion": (
        ["ledgr"],
        2,
        "there is no command ledgr; did you mean ledger?",
    ),
    "an unknown command like no other": (
        ["xyzzy"],
        2,
        "there is no command xyzzy; see windtunnel --help",
    ),
    "an unknown option, with a suggestion": (
        ["up", "--ephemral"],
        2,
        "up: there is no option --ephemral; did you mean --ephemeral?",
    ),
    "an unknown option of a verb below a verb": (
        ["nodes", "add", "--poool", "a"],
        2,
        "nodes add: there is no option --poool; did you mean --pool?",
    ),
    "what is no regular expression": (
        ["conformance", "kubelet", __file__, "--emit", "out", "--only", "("],
        2,
        "--only '(' is no regular expression: missing )",
    ),
    "nothing at once": (
        ["conformance", "kubelet", __file__, "--emit", "out", "--at-once", "0"],
        2,
        "conformance kubelet: invalid value for '--at-once': 0 is not in the range x>=1",
    ),
    "what is no recording": (
        ["conformance", "kubelet", __file__, "--emit", "out"],
        4,
        f"{__file__} holds no recorded scenarios of pods: Extra data",
    ),
    "a value of the wrong type": (
        ["up", "--port", "high"],
        2,
        "up: invalid value for '--port': 'high' is not a valid integer",
    ),
    "a missing value": (["nodes", "add"], 2, "nodes add: missing option '--pool'"),
    "an extra word": (["status", "now"], 2, "status: got unexpected extra argument (now)"),
    "an output that is not known": (
        ["list", "-o", "xml"],
        2,
        "list: invalid value for '-o' / '--output': 'xml' is not one of 'table', 'json', 'yaml'",
    ),
    "an impossible name": (["status", "--name", "A/B"], 2, "cluster name 'A/B' must be"),
    "a cluster that is not there": (
        ["status"],
        3,
        "there is no cluster default; start one with `windtunnel up --name default`",
    ),
    "a cluster that is not there, to be stopped": (
        ["down", "--name", "b"],
        3,
        "there is no cluster b",
    ),
    "a cluster that is not there, to be asked": (
        ["ledger"],
        3,
        "there is no cluster default; start one with `windtunnel up --name default`",
    ),
    "an unknown part": (
        ["up", "--without", "etcd"],
        2,
        "there is no part etcd; --without knows scheduler, controllers, nodes",
    ),
    "a contradiction": (
        ["up", "--ephemeral", "--data-dir", "d"],
        2,
        "an ephemeral cluster has no data",
    ),
    "a port beyond all ports": (["up", "--port", "70000"], 2, "port 70000 is not between"),
    "nodes and a pool at once": (
        ["nodes", "remove", "--pool", "a", "a-0"],
        2,
        "name either nodes or a --pool to remove",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "said"), WRONG.values(), ids=WRONG)
def test_wrong(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert root.run(arguments) == code

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"windtunnel: {said}")
    assert printed.err.count("\n") == 1


def test_nothing_to_replay_is_no_success(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = home / "empty.jsonl"
    empty.touch()

    assert root.run(["conformance", "scheduler", str(empty)]) == 2
    assert "there are no cases to replay" in capsys.readouterr().err


IMPOSSIBLE_NODES = [
    "",
    "count=3",
    "pool=a,count=x",
    "pool=a,count=0",
    "pool=a,gpus=-1",
    "pool=A_B",
    "pool=a,colour=red",
    "pool=a,cpu=much",
    "pool=a,taint=k:Never",
    "a:b:c:d",
    "h100:0x8",
    "pool=a,product=no-such-gpu",
]


@pytest.mark.parametrize("spec", IMPOSSIBLE_NODES)
def test_impossible_nodes_are_refused_before_anything_is_touched(
    spec: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert root.run(["up", "--nodes", spec]) == 2

    assert capsys.readouterr().err.count("\n") == 1
    assert list(home.iterdir()) == []


FAILURES = {
    "a refusal of the API": (Forbidden("pods is forbidden"), 1, "the cluster refused: pods is"),
    "a damaged file": (DataError("it is damaged"), 4, "it is damaged"),
    "an interrupt": (KeyboardInterrupt(), 130, "interrupted"),
    "a file that cannot be opened": (
        PermissionError(13, "Permission denied", "/etc/x"),
        1,
        "/etc/x: Permission denied",
    ),
}


@pytest.mark.parametrize(("failure", "code", "said"), FAILURES.values(), ids=FAILURES)
def test_a_command_fails_with(
    failure: BaseException,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @click.command()
    def command() -> None:
        raise failure

    monkeypatch.setattr(root.LazyVerbs, "get_command", lambda *_: command)
    monkeypatch.setattr(root.signal, "signal", lambda *_: None)

    assert root.run(["status"]) == code
    # click ends the line in which a terminal has echoed ^C.
    assert capsys.readouterr().err.lstrip("\n").startswith(f"windtunnel: {said}")


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert root.run([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_every_verb_is_a_module_whose_help_begins_as_the_overview_says() -> None:
    for verb in root.VERBS:
        command = root.root.get_command(click.Context(root.root), verb)
        assert command is not None
        assert command.help


def test_several_parts_are_left_out_with_commas_or_by_repeating(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert root.run(["up", "--without", "scheduler,etcd", "--without", "nodes"]) == 2
    assert "there is no part etcd" in capsys.readouterr().err
