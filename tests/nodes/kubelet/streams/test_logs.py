"""Log files: from where, how much, in what form, and on while the container runs."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.nodes.kubelet.streams.conftest import NOW, Kubelet

from windtunnel.machinery.timestamp import micro_time_text
from windtunnel.nodes.kubelet.runtime.protocol import ContainerState
from windtunnel.nodes.kubelet.streams.logs import (
    LogOptions,
    NoLog,
    Printing,
    parse,
    send_log,
    tail_start,
)

TIME = "2026-01-01T00:00:0{}.000000000Z"
LOG = "".join(
    f"{TIME.format(number)} {rest}\n"
    for number, rest in enumerate(
        ["stdout F line 0", "stdout F line 1", "stderr F oops", "stdout P ta", "stdout P il"]
    )
)
PATH = "/containerLogs/default/p/main"

SHOWN = {
    "all": ("", "line 0\nline 1\noops\ntail"),
    "the last lines": ("?tailLines=3", "oops\ntail"),
    "none of the last lines": ("?tailLines=0", ""),
    "more than there is": ("?tailLines=99", "line 0\nline 1\noops\ntail"),
    "up to a limit": ("?limitBytes=9", "line 0\nli"),
    "since a time": ("?sinceTime=2026-01-01T00:00:02Z", "oops\ntail"),
    "one stream": ("?stream=Stderr", "oops\n"),
    "with times": (
        "?timestamps=true&tailLines=3",
        f"{TIME.format(2)} oops\n{TIME.format(3)} tail",
    ),
}


@pytest.mark.parametrize(("query", "shown"), SHOWN.values(), ids=SHOWN)
def test_what_is_shown(kubelet: Kubelet, query: str, shown: str) -> None:
    kubelet.runtime.add("p", log=LOG)

    assert kubelet.ask("GET", PATH + query) == (200, shown.encode())


def test_since_some_seconds(kubelet: Kubelet) -> None:
    lines = [f"{micro_time_text(NOW - age)} stdout F {age}\n" for age in (100, 50, 10)]
    kubelet.runtime.add("p", log="".join(lines))

    assert kubelet.ask("GET", f"{PATH}?sinceSeconds=60") == (200, b"50\n10\n")


REFUSED = {
    "an unknown pod": ("/containerLogs/default/q/main", 404, 'pod "q" does not exist\n'),
    "an unknown container": (
        "/containerLogs/default/p/c", 404, 'container "c" not found in pod "p"\n',
    ),
    "no earlier one": (
        f"{PATH}?previous=true", 400, 'previous terminated container "main" in pod "p" not found',
    ),
    "no count": (f"{PATH}?tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
}  # fmt: skip


@pytest.mark.parametrize(("path", "code", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(kubelet: Kubelet, path: str, code: int, text: str) -> None:
    kubelet.runtime.add("p", log=LOG)

    assert kubelet.ask("GET", path) == (code, text.encode())


def test_following_ends_with_the_container(kubelet: Kubelet) -> None:
    record = kubelet.runtime.add("p", log=LOG)
    kubelet.runtime.end(record)

    status, body = kubelet.ask("GET", f"{PATH}?follow=true&tailLines=1")

    assert (status, body) == (200, b"il")


def test_a_file_that_is_gone_is_told(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p", state=ContainerState.EXITED)

    status, body = kubelet.ask("GET", PATH)

    assert (status, b"no such file or directory" in body) == (400, True)


def line(text: str) -> str:
    return f"{TIME.format(1)} stdout F {text}\n"


class Follower:
    """Follows a log, and lets things happen to it each time it is looked at."""

    def __init__(self, path: Path, *turns: Callable[[], object]) -> None:
        self._turns = list(turns)
        self.shown = b""
        options = LogOptions(follow=True)
        asyncio.run(
            send_log(path, options, running=self.running, left=lambda: False, send=self.send)
        )

    def running(self) -> bool:
        if self._turns:
            self._turns.pop(0)()
        return bool(self._turns)

    async def send(self, piece: bytes) -> None:
        self.shown += piece


def append(path: Path, text: str) -> Callable[[], object]:
    def write() -> None:
        with path.open("a") as file:
            file.write(text)

    return write


def test_what_comes_is_shown_when_its_line_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_text(line("a"))
    whole = line("b")

    seen = Follower(path, append(path, whole[:40]), append(path, whole[40:]), lambda: None)

    assert seen.shown == b"a\nb\n"


def test_a_file_that_was_moved_away_is_read_to_its_end(tmp_path: Path) -> None:
    path, old = tmp_path / "0.log", tmp_path / "0.log.1"
    path.write_text(line("a"))

    def rotate() -> None:
        path.rename(old)
        append(old, line("b"))()
        path.write_text(line("c"))

    assert Follower(path, lambda: None, rotate, lambda: None).shown == b"a\nb\nc\n"


def test_nothing_ends_while_a_file_is_between_two_names(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_text(line("a"))

    def back() -> None:
        path.write_text(line("b"))

    away = Follower(path, lambda: None, lambda: path.rename(tmp_path / "old"), back, lambda: None)

    assert away.shown == b"a\nb\n"


def test_what_is_no_log_is_told_as_the_real_one_does() -> None:
    with pytest.raises(NoLog, match=r'unsupported log format: "line 16\\n"'):
        parse(b"line 16\n")
    with pytest.raises(NoLog, match="unexpected timestamp"):
        Printing(LogOptions(since=1.0)).shown(b"yesterday stdout F x\n")


@given(
    texts=st.lists(st.integers(0, 200_000).map(lambda size: b"x" * (size % 70_000)), max_size=6),
    ended=st.booleans(),
    lines=st.integers(0, 8),
)
def test_the_tail_begins_where_counting_lines_says(
    texts: list[bytes], ended: bool, lines: int
) -> None:
    content = b"\n".join(texts) + (b"\n" if ended and texts else b"")
    wanted = content.splitlines(keepends=True)
    expected = b"".join(wanted[max(0, len(wanted) - lines) :]) if lines else b""

    assert content[tail_start(io.BytesIO(content), lines) :] == expected
