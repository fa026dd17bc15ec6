"""One container: a process at the end of pipes, from its creation to its exit.

All but the constructor and ``exited`` runs on the keeper's thread. The record is replaced as a
whole, so that any thread may read it.
"""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from windtunnel.kernel import Clock
from windtunnel.nodes.kubelet.runtime.isolation import Told, open_status
from windtunnel.nodes.kubelet.runtime.keeper import Keeper
from windtunnel.nodes.kubelet.runtime.logs import LogFile, LogStream
from windtunnel.nodes.kubelet.runtime.memory import ControlGroup
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerOrder,
    ContainerRecord,
    ContainerState,
)

_PIECE: Final = 65536
_NOT_STARTED: Final = 128
_NOT_STARTED_WORDS: Final = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: {}: unknown"
)


class Tap(Protocol):
    """Somebody who listens to what a container puts out."""

    def give(self, stream: LogStream, piece: bytes) -> bool:
        """Take a piece; False when nobody listens any more."""
        ...

    def end(self) -> None:
        """Nothing more comes."""
        ...


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start the container's program.

    ``environment`` is the one of the programs that make its namespaces, not its own.
    """

    command: Sequence[str]
    environment: dict[str, str]
    isolated: bool


class Container:
    """A container and its process.

    Args:
        order: What it is.
        record: What is known of it; state CREATED.
        folder: Where its root and its plan are.
        launch: How to start it.
        group: The control group it joins, if any.
        keeper: Who starts it and waits for it.
        clock: Tells the time of what happens.
        changed: Called with each new record.
    """

    def __init__(
        self,
        order: ContainerOrder,
        record: ContainerRecord,
        folder: Path,
        launch: Launch,
        group: ControlGroup | None,
        keeper: Keeper,
        clock: Clock,
        changed: Callable[[ContainerRecord], None],
    ) -> None:
        self.order, self.record, self.folder, self.group = order, record, folder, group
        self.exited = threading.Event()
        self.settled = threading.Event()
        self.terminal = -1
        self.stdin = -1
        self.too_big = False
        self._launch, self._keeper, self._clock = launch, keeper, clock
        self._changed = changed
        self._process: subprocess.Popen[bytes] | None = None
        self._outer = -1
        self._inner = -1
        self._status = -1
        self._way: socket.socket | None = None
        self._told = b""
        self._outputs: dict[int, LogStream] = {}
        self._taps: list[Tap] = []
        self._log: LogFile | None = None

    def start(self) -> None:
        """Start the process; ``settled`` tells when it is known whether its program runs."""
        order = self.order
        self._log = LogFile(order.log_path)
        self._status = open_status(self.folder)
        passed = self._open_ends()
        try:
            self._process = subprocess.Popen(
                self._launch.command,
                stdin=passed[0],
                stdout=passed[1],
                stderr=passed[2],
                cwd="/",
                env=self._launch.environment,
                start_new_session=self._launch.isolated,
            )
        except OSError as error:
            self._told = f"failed {error.strerror}: {error.filename}".encode()
            self._fail()
            return
        finally:
            for descriptor in set(passed):
                os.close(descriptor)
        self._outer = os.pidfd_open(self._process.pid)
        self._keeper.watch(self._status, self._hear_status)
        for descriptor in self._outputs:
            self._watch_output(descriptor)
        self._keeper.watch(self._outer, self._end)

    def signal(self, number: int) -> None:
        """Send a signal to the first process; before it is known, only its death can be sent."""
        with contextlib.suppress(ProcessLookupError):
            if self._inner >= 0:
                signal.pidfd_send_signal(self._inner, number)
            elif self._outer >= 0 and number == signal.SIGKILL:
                signal.pidfd_send_signal(self._outer, number)

    def tap(self, tap: Tap) -> None:
        """Let somebody listen from now on."""
        if self.record.state is ContainerState.EXITED:
            tap.end()
        else:
            self._taps.append(tap)

    def close_stdin(self) -> None:
        """Tell the program that nothing more comes."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def _open_ends(self) -> tuple[int, int, int]:
        """Open the process's ends and keep ours; returns the process's."""
        order = self.order
        if order.tty and self._launch.isolated:  # it takes one of its own, and hands us the master
            self._way, theirs = socket.socketpair()
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            return theirs.detach(), null, null
        if order.tty:
            self.terminal, slave = pty.openpty()
            self._outputs = {self.terminal: "stdout"}
            return slave, slave, slave
        out, their_out = os.pipe2(os.O_CLOEXEC)
        err, their_err = os.pipe2(os.O_CLOEXEC)
        self._outputs = {out: "stdout", err: "stderr"}
        if order.stdin:
            their_in, self.stdin = os.pipe2(os.O_CLOEXEC)
        else:
            their_in = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        return their_in, their_out, their_err

    def _receive_terminal(self) -> None:
        """Take the master's end of the container's own terminal, once it has come."""
        if self._way is None:
            return
        with self._way as way, contextlib.suppress(OSError):
            flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
            for self.terminal in socket.recv_fds(way, 1, 1, flags)[1]:
                self._outputs[self.terminal] = "stdout"
                self._watch_output(self.terminal)
        self._way = None

    def _watch_output(self, descriptor: int) -> None:
        self._keeper.watch(descriptor, lambda: self._read(descriptor))

    def _hear_status(self) -> None:
        try:
            piece = os.read(self._status, _PIECE)
        except BlockingIOError:
            return
        if piece:
            self._told += piece
            return
        self._keeper.leave(self._status)
        self._status = -1
        self._receive_terminal()
        told = Told.read(self._told)
        if not told.pid or told.failed:
            return  # it ends by itself, and is told then
        try:
            self._inner = os.pidfd_open(told.pid)
        except ProcessLookupError:
            return
        self._set(
            replace(
                self.record,
                state=ContainerState.RUNNING,
                started_at=self._clock.now(),
                pid=told.pid,
                missing=told.missing,
            )
        )
        self.settled.set()

    def _read(self, descriptor: int) -> bool:
        """Move what there is; False at the end."""
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return False
        except OSError:  # a terminal whose other end is closed
            piece = b""
        if not piece:
            self._close_output(descriptor)
            return False
        stream = self._outputs[descriptor]
        assert self._log is not None
        self._log.write(stream, piece, self._clock.now())
        self._taps = [tap for tap in self._taps if tap.give(stream, piece)]
        return True

    def _close_output(self, descriptor: int) -> None:
        del self._outputs[descriptor]
        if descriptor == self.terminal:
            self.terminal = -1
        self._keeper.leave(descriptor)

    def _end(self) -> None:
        """The process has ended: take its last words, and say how it ended."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return
        if not self._launch.isolated:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        while self._status >= 0:  # nobody writes any more: it is read to its end
            self._hear_status()
        for descriptor in list(self._outputs):
            os.set_blocking(descriptor, False)
            while self._read(descriptor):
                pass
            if descriptor in self._outputs:
                self._close_output(descriptor)
        self._keeper.leave(self._outer)
        self._outer = -1
        if not self.settled.is_set() and not self._ran():
            self._fail()
            return
        self._finish(128 - code if code < 0 else code)

    def _ran(self) -> bool:
        told = Told.read(self._told)
        return bool(told.pid) and not told.failed

    def _finish(self, code: int) -> None:
        killed = self.too_big or (self.group is not None and self.group.kills() > 0)
        now = self._clock.now()
        self._close()
        self._set(
            replace(
                self.record,
                state=ContainerState.EXITED,
                exit_code=code,
                reason="OOMKilled" if killed else "Error" if code else "Completed",
                started_at=self.record.started_at or now,
                finished_at=now,
                pid=0,
            )
        )
        self._tell_ended()

    def _fail(self) -> None:
        """The program never ran."""
        why = Told.read(self._told).failed or "the machine refused it"
        self._close()
        self._set(
            replace(
                self.record,
                state=ContainerState.EXITED,
                exit_code=_NOT_STARTED,
                reason="StartError",
                message=_NOT_STARTED_WORDS.format(why),
                finished_at=self._clock.now(),
                pid=0,
            )
        )
        self._tell_ended()

    def _close(self) -> None:
        if self._status >= 0:
            self._keeper.leave(self._status)
            self._status = -1
        if self._way is not None:
            self._way.close()
            self._way = None
        for descriptor in list(self._outputs):
            self._close_output(descriptor)
        self.close_stdin()
        if self._inner >= 0:
            os.close(self._inner)
            self._inner = -1
        if self._log is not None:
            self._log.close(self._clock.now())
            self._log = None
        for tap in self._taps:
            tap.end()
        self._taps = []

    def _tell_ended(self) -> None:
        if self.group is not None:
            self.group.remove()
        self.settled.set()
        self.exited.set()

    def _set(self, record: ContainerRecord) -> None:
        self.record = record
        self._changed(record)
