"""Programs in containers, as WebSocket clients of all dialects see them."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from typing import Any

import pytest
from tests.nodes.kubelet.streams.conftest import Kubelet, all_frames

from windtunnel.nodes.kubelet.runtime.protocol import ContainerState
from windtunnel.nodes.kubelet.streams.programs import ending

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"


def command(*argv: str, streams: str = "output=1&error=1") -> str:
    return "/exec/default/p/main?" + "&".join([streams, *(f"command={part}" for part in argv)])


def channels(frames: list[bytes]) -> dict[int, bytes]:
    found: dict[int, bytes] = defaultdict(bytes)
    for frame in frames:
        found[frame[0]] += frame[1:]
    return found


ENDS = {
    "well": ("echo%20out;echo%20err>%262", b"out\n", b"err\n", "Success", None),
    "with a code": ("exit%203", b"", b"", "Failure", "3"),
    "killed": ("kill%20-9%20$$", b"", b"", "Failure", "137"),
}


@pytest.mark.parametrize(("script", "out", "err", "status", "code"), ENDS.values(), ids=ENDS)
def test_a_program_ends(
    kubelet: Kubelet, script: str, out: bytes, err: bytes, status: str, code: str | None
) -> None:
    kubelet.runtime.add("p")

    frames = all_frames(kubelet.socket(command("sh", "-c", script), V5))

    assert frames[0] == b"\x01"
    found = channels(frames)
    assert (found[1], found[2]) == (out, err)
    told = json.loads(found[3])
    assert told["status"] == status
    if code is not None:
        assert told["reason"] == "NonZeroExitCode"
        assert told["details"]["causes"] == [{"reason": "ExitCode", "message": code}]


def test_the_end_of_input_is_told_by_closing_its_channel(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    socket = kubelet.socket(command("cat", streams="input=1&output=1"), V5)

    socket.send_binary(b"\x00hel")
    socket.send_binary(b"\x00lo")
    socket.send_binary(b"\xff\x00")

    found = channels(all_frames(socket))
    assert (found[1], json.loads(found[3])["status"]) == (b"hello", "Success")


def test_much_output_arrives_whole(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    path = command("head", "-c", "5000000", "/dev/zero")

    found = channels(all_frames(kubelet.socket(path, V4)))

    assert found[1] == bytes(5_000_000)


def test_a_terminal_has_one_output_and_a_size(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    path = command(
        "sh", "-c", "read%20x;stty%20size;echo%20e>%262", streams="input=1&output=1&tty=1&error=1"
    )
    socket = kubelet.socket(path, V5)

    socket.send_binary(b"\x04" + json.dumps({"Width": 91, "Height": 17}).encode())
    socket.send_binary(b"\x04rubbish")
    socket.send_binary(b"\x00go\n")

    found = channels(all_frames(socket))
    assert b"17 91" in found[1]
    assert b"e\r\n" in found[1]
    assert 2 not in found


def test_a_program_that_cannot_be_run_is_a_failure(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")

    found = channels(all_frames(kubelet.socket(command("nosuchcmd"), V5)))

    told = json.loads(found[3])
    assert (told["reason"], told["code"]) == ("InternalError", 500)
    assert "error executing command in container: failed to exec" in told["message"]


def test_a_client_who_leaves_ends_the_program(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    begun: list[Any] = []
    begin = kubelet.runtime.exec
    kubelet.runtime.exec = lambda *a, **k: begun.append(begin(*a, **k)) or begun[-1]  # type: ignore[func-returns-value,method-assign]
    socket = kubelet.socket(command("sh", "-c", "echo%20on;sleep%201000"), V5)
    assert socket.recv() == b"\x01"
    assert socket.recv() == b"\x01on\n"

    socket.shutdown()

    assert begun[0].wait() == 137


def test_texts_in_base64(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    socket = kubelet.socket(
        command("head", "-n", "1", streams="input=1&output=1"), "v4.base64.channel.k8s.io"
    )
    socket.send("0" + base64.b64encode(b"hi\n").decode())

    frames = [(frame[:1], base64.b64decode(frame[1:])) for frame in all_frames(socket)]

    assert (b"1", b"hi\n") in frames
    assert json.loads(frames[-1][1])["status"] == "Success"


def test_before_v4_a_failure_is_a_text(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")

    found = channels(all_frames(kubelet.socket(command("false"), "channel.k8s.io")))

    assert b"exit code 1" in found[3]


def test_attaching_joins_and_leaves(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    socket = kubelet.socket("/attach/default/p/uid-p/main?input=1&output=1", V5)

    socket.send_binary(b"\x00echo")

    assert socket.recv() == b"\x01"
    assert socket.recv() == b"\x01echo"


REFUSED = {
    "an unknown pod": ("/exec/default/q/main?output=1&command=ls", 404, "pod does not exist"),
    "another pod of the name": ("/exec/default/p/u/main?output=1", 404, "pod does not exist"),
    "an unknown container": (
        "/exec/default/p/other?output=1", 500, 'container not found ("other")',
    ),
    "no stream": ("/exec/default/p/main", 400, "you must specify at least 1"),
    "no upgrade": ("/exec/default/p/main?output=1", 400, "Upgrade request required"),
    "a path too long": ("/exec/a/b/c/d/e", 404, "not found"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_before_anything_else(
    kubelet: Kubelet, path: str, code: int, words: str
) -> None:
    kubelet.runtime.add("p")

    status, body = kubelet.ask("GET", path)

    assert (status, words in body.decode()) == (code, True)


def test_a_container_that_does_not_run_is_not_found(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p", state=ContainerState.EXITED)

    assert kubelet.ask("GET", command("ls")) == (500, b'container not found ("main")')


def test_an_unknown_dialect_is_refused(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    headers = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "x", "Sec-WebSocket-Protocol": "v9.channel.k8s.io",
    }  # fmt: skip

    status, body = kubelet.ask("GET", command("ls"), **headers)

    assert (status, b"v9.channel.k8s.io" in body) == (400, True)


def test_a_program_run_to_its_end_answers_what_it_wrote(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")

    assert kubelet.ask("POST", "/run/default/p/main?cmd=echo%20a") == (200, b"a\n")
    assert kubelet.ask("POST", "/run/default/p/main?cmd=false")[0] == 500


def test_an_exit_code_is_told_by_number() -> None:
    assert ending(0)["status"] == "Success"
    assert ending(7)["details"]["causes"][0]["message"] == "7"
