"""Log files of containers, in the form in which a CRI runtime writes them.

A line is ``<RFC 3339 with nanoseconds> stdout|stderr F|P <text>``; P says that the line goes on in
the next one, F that it ends here. Source: the CRI's log format, containerd 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import gmtime, strftime
from typing import BinaryIO, Final, Literal

LogStream = Literal["stdout", "stderr"]

LINE_AT_MOST: Final = 16 * 1024
"""Bytes of text in a line of the file; a longer one is written in parts."""
ROTATED_BYTES: Final = 10 * 1024 * 1024
KEPT_FILES: Final = 5
"""Source: the kubelet's defaults containerLogMaxSize and containerLogMaxFiles."""


def nano_time_text(seconds: float) -> str:
    """Print ``2026-01-31T08:00:00.123456789Z``; the last digits of our clocks are always 0."""
    micros = round(seconds * 1_000_000)
    whole, part = divmod(micros, 1_000_000)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(whole))}.{part:06d}000Z"


class Lines:
    """Cuts one stream into lines of the file; keeps what has no end yet."""

    def __init__(self, stream: LogStream) -> None:
        self._stream = stream.encode()
        self._rest = b""

    def feed(self, piece: bytes, now: float) -> bytes:
        """Return the lines that are complete with ``piece``."""
        text = self._rest + piece
        out = []
        for line, full in self._cut(text):
            out.append(self._line(line, now, full=full))
        return b"".join(out)

    def end(self, now: float) -> bytes:
        """Return what was left without a line feed: a part, as nothing ended it."""
        rest, self._rest = self._rest, b""
        return self._line(rest, now, full=False) if rest else b""

    def _cut(self, text: bytes) -> Iterator[tuple[bytes, bool]]:
        start = 0
        while (stop := text.find(b"\n", start)) >= 0:
            while stop - start > LINE_AT_MOST:
                yield text[start : start + LINE_AT_MOST], False
                start += LINE_AT_MOST
            yield text[start:stop], True
            start = stop + 1
        while len(text) - start >= LINE_AT_MOST:
            yield text[start : start + LINE_AT_MOST], False
            start += LINE_AT_MOST
        self._rest = text[start:]

    def _line(self, text: bytes, now: float, *, full: bool) -> bytes:
        tag = b"F" if full else b"P"
        return b"%s %s %s %s\n" % (nano_time_text(now).encode(), self._stream, tag, text)


class LogFile:
    """The log file of one container; grown past a size it is renamed and begun again."""

    def __init__(self, path: Path, rotated_bytes: int = ROTATED_BYTES) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._limit = path, rotated_bytes
        self._file = self._open()
        self._lines = {"stdout": Lines("stdout"), "stderr": Lines("stderr")}

    def write(self, stream: LogStream, piece: bytes, now: float) -> None:
        """Write what the container put out."""
        self._put(self._lines[stream].feed(piece, now), now)

    def close(self, now: float) -> None:
        """Write what has no line feed, and close."""
        for lines in self._lines.values():
            self._put(lines.end(now), now)
        self._file.close()

    def _open(self) -> BinaryIO:
        return self._path.open("ab", buffering=0)

    def _put(self, lines: bytes, now: float) -> None:
        if not lines:
            return
        if self._file.tell() + len(lines) > self._limit and self._file.tell():
            self._rotate(now)
        self._file.write(lines)

    def _rotate(self, now: float) -> None:
        self._file.close()
        stamp = strftime("%Y%m%d-%H%M%S", gmtime(now))
        self._path.rename(self._path.with_name(f"{self._path.name}.{stamp}"))
        past = sorted(self._path.parent.glob(f"{self._path.name}.*"))
        for path in past[: 1 - KEPT_FILES]:
            path.unlink(missing_ok=True)
        self._file = self._open()
