"""Programs that are run in a container beside its first, and ends of a container that are opened.

Both are an ``Exec``: three files, a size and an exit code.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable
from typing import BinaryIO, Final, cast

from windtunnel.nodes.kubelet.runtime.logs import LogStream

_PIPE_BYTES: Final = 1024 * 1024


class _Terminal(io.FileIO):
    """The master's end of a terminal; when the other end is closed, that is the end."""

    def read(self, size: int | None = -1) -> bytes:
        """Read as a file does, up to ``size`` bytes."""
        try:
            return super().read(-1 if size is None else size) or b""
        except OSError:
            return b""


def reading(descriptor: int, *, terminal: bool = False) -> BinaryIO:
    """Return a file that reads a descriptor, and owns it."""
    return cast(BinaryIO, _Terminal(descriptor, "r") if terminal else io.FileIO(descriptor, "r"))


def writing(descriptor: int) -> BinaryIO:
    """Return a file that writes to a descriptor, and owns it."""
    return cast(BinaryIO, io.FileIO(descriptor, "w"))


def set_size(terminal: int, columns: int, rows: int) -> None:
    """Tell a terminal its size; -1 is none."""
    if terminal < 0:
        return
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class ProcessExec:
    """A program that was started in a container.

    Args:
        process: What runs it.
        stdin: Its input, None where none was asked for.
        stdout: Its output; with a terminal both outputs.
        stderr: Its other output.
        terminal: The master's end of its terminal, -1 where it has none.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: BinaryIO | None,
        stdout: BinaryIO,
        stderr: BinaryIO | None,
        terminal: int = -1,
    ) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self._process, self._terminal = process, terminal

    def resize(self, columns: int, rows: int) -> None:
        """Tell the terminal its size; nothing happens where there is none."""
        if self._terminal >= 0 and not self.stdout.closed:
            set_size(self._terminal, columns, rows)

    def wait(self, timeout_seconds: float | None = None) -> int:
        """Return the exit code; raises subprocess.TimeoutExpired where it takes too long."""
        code = self._process.wait(timeout_seconds)
        return 128 - code if code < 0 else code

    def kill(self) -> None:
        """Kill it: what entered the container for it is killed, and it dies with that."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close all ends."""
        _close(self.stdin, self.stdout, self.stderr)


class AttachedExec:
    """The open ends of a container's first process.

    What is put out while nobody reads fast enough is lost to who is attached, never to the log.

    Args:
        stdin: The container's input, None where it has none.
        resize: Tells the container's terminal its size.
        wait: Returns the container's exit code when it has exited.
        terminal: Whether both outputs are one.
    """

    def __init__(
        self,
        stdin: BinaryIO | None,
        resize: Callable[[int, int], None],
        wait: Callable[[], int],
        *,
        terminal: bool,
    ) -> None:
        out, self._out = _wide_pipe()
        self.stdin = stdin
        self.stdout = reading(out)
        self.stderr: BinaryIO | None = None
        self._err = -1
        if not terminal:
            err, self._err = _wide_pipe()
            self.stderr = reading(err)
        self._lock = threading.Lock()
        self._open = True
        self._resize, self._wait = resize, wait

    def resize(self, columns: int, rows: int) -> None:
        """Tell the terminal its size; nothing happens where there is none."""
        self._resize(columns, rows)

    def wait(self) -> int:
        """Return the container's exit code when it has exited."""
        return self._wait()

    def kill(self) -> None:
        """Let go of the container."""
        self.end()

    def close(self) -> None:
        """Let go, and close all ends."""
        self.end()
        _close(self.stdin, self.stdout, self.stderr)

    def give(self, stream: LogStream, piece: bytes) -> bool:
        """Take what the container put out."""
        with self._lock:
            if not self._open:
                return False
            try:
                os.write(self._err if stream == "stderr" else self._out, piece)
            except BlockingIOError:
                pass
            except OSError:
                return False
            return True

    def end(self) -> None:
        """Nothing more comes."""
        with self._lock:
            if not self._open:
                return
            self._open = False
            os.close(self._out)
            if self._err >= 0:
                os.close(self._err)


def _close(*files: BinaryIO | None) -> None:
    for file in files:
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


def _wide_pipe() -> tuple[int, int]:
    """Make a pipe that holds much, and whose writer never waits."""
    read, write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(write, False)
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return read, write
