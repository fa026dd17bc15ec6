"""Log files of containers, read as they are wanted: from where, how much, and on and on.

A line of a file is ``<time> stdout|stderr F|P <text>``; of a P line the text goes on in the next.
While a container runs its log is looked at again and again, for that needs nothing of whoever
writes it; a file that was moved away and begun anew is read to its end, then the other begun.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from windtunnel.machinery.timestamp import parse_time

_LOOK_SECONDS: Final = 0.1
_BLOCK: Final = 64 * 1024
_PIECE: Final = 32 * 1024


class NoLog(Exception):
    """A line is not in the format of logs, or an option cannot be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What a client wants of a log."""

    follow: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    since: float | None = None
    """Earlier lines are left out."""
    limit_bytes: int | None = None
    stream: str = ""
    """Only this one of stdout and stderr; "": both."""


class LogLine(NamedTuple):
    """One line of a file."""

    time: str
    stream: str
    partial: bool
    text: bytes


def parse(raw: bytes) -> LogLine:
    """Read one line of a file.

    Raises:
        NoLog: It is none.
    """
    parts = raw.rstrip(b"\n").split(b" ", 3)
    if len(parts) < 3 or parts[1] not in (b"stdout", b"stderr"):
        shown = raw.decode(errors="replace").replace("\n", "\\n")
        raise NoLog(f'unsupported log format: "{shown}"')
    partial = parts[2].split(b":")[0] == b"P"
    text = parts[3] if len(parts) > 3 else b""
    return LogLine(parts[0].decode("latin-1"), parts[1].decode(), partial, text)


def tail_start(file: BinaryIO, lines: int) -> int:
    """Return where the last lines of a file begin."""
    end = file.seek(0, os.SEEK_END)
    if lines <= 0:
        return end
    at, wanted = end, lines + 1
    while at > 0:
        begin = max(0, at - _BLOCK)
        file.seek(begin)
        block = file.read(at - begin)
        if at == end and not block.endswith(b"\n"):
            wanted -= 1  # the last line is not ended
        found = block.count(b"\n")
        if found >= wanted:
            position = len(block)
            for _ in range(wanted):
                position = block.rindex(b"\n", 0, position)
            return begin + position + 1
        wanted -= found
        at = begin
    return 0


class Printing:
    """Turns lines into what the client sees, up to his limit."""

    def __init__(self, options: LogOptions) -> None:
        self._options = options
        self._left = options.limit_bytes
        self._begins = True
        """The next text begins a line."""

    @property
    def full(self) -> bool:
        """Whether the client has got all he wants."""
        return self._left is not None and self._left <= 0

    def shown(self, raw: bytes) -> bytes:
        """Return what is shown of a line of the file."""
        options, line = self._options, parse(raw)
        if options.since is not None and _too_early(line.time, options.since):
            return b""
        if options.stream and line.stream != options.stream:
            return b""
        text = line.text if line.partial else line.text + b"\n"
        if options.timestamps and self._begins:
            text = line.time.encode() + b" " + text
        self._begins = not line.partial
        if self._left is not None:
            text = text[: self._left]
            self._left -= len(text)
        return text


def _too_early(time: str, since: float) -> bool:
    try:
        return parse_time(time) < since
    except ValueError:
        raise NoLog(f'unexpected timestamp format "{time}"') from None


class _Reader:
    """Whole lines of a file that may be moved away and begun anew while it is read."""

    def __init__(self, path: Path, tail_lines: int | None) -> None:
        self._path = path
        self._file = path.open("rb")
        self._moved = False
        self._at = 0
        if tail_lines is not None:
            self._at = tail_start(self._file, tail_lines)

    def lines(self, *, unfinished: bool = False) -> Iterator[bytes]:
        """Yield what is there and was not read; a line without its end only if wanted."""
        while True:
            self._file.seek(self._at)
            for raw in self._file:
                if not raw.endswith(b"\n") and not unfinished and not self._moved:
                    break
                self._at += len(raw)
                yield raw
            if not self._moved:
                self._moved = self._is_moved()
                if not self._moved:
                    return
                continue  # what was written before it was moved
            with suppress(FileNotFoundError):
                file = self._path.open("rb")
                self._file.close()
                self._file, self._at, self._moved = file, 0, False
                continue
            return

    def _is_moved(self) -> bool:
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return True
        here = os.fstat(self._file.fileno())
        # One that was emptied is begun anew as well.
        return there.st_ino != here.st_ino or here.st_size < self._at

    def close(self) -> None:
        self._file.close()


async def send_log(
    path: Path,
    options: LogOptions,
    *,
    running: Callable[[], bool],
    left: Callable[[], bool],
    send: Callable[[bytes], Awaitable[None]],
) -> None:
    """Send a log, and what comes to it while the container runs if the client wants to follow.

    Args:
        path: The file.
        options: What is wanted of it.
        running: Whether more may come.
        left: Whether the client is gone.
        send: Takes pieces of what the client sees.

    Raises:
        NoLog: The file holds something else.
        OSError: There is no such file.
    """
    printing = Printing(options)
    reader = _Reader(path, options.tail_lines)
    try:
        while True:
            # Received before reading: what a container wrote last is there once it has stopped.
            on = options.follow and running()
            piece = bytearray()
            for raw in reader.lines(unfinished=not on):
                piece += printing.shown(raw)
                if len(piece) >= _PIECE:
                    await send(bytes(piece))
                    piece.clear()
                if printing.full:
                    break
            if piece:
                await send(bytes(piece))
            if printing.full or not on or left():
                return
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        reader.close()
