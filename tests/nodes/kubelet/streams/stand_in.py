"""A runtime whose containers are plain processes of the machine: enough for what is streamed."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerRecord,
    ContainerState,
    Ended,
    ExecFailed,
)

CANNOT_START = (
    "failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: "
    'unable to start container process: exec: "{}": executable file not found in $PATH: unknown'
)


class Terminal:
    """A pseudo terminal's near end, which ends like a file."""

    def __init__(self, number: int) -> None:
        self._number = number

    def read(self, size: int) -> bytes:
        try:
            return os.read(self._number, size)
        except OSError:
            return b""

    def write(self, piece: Any) -> int:
        return os.write(self._number, piece)

    def close(self) -> None:
        with suppress(OSError):
            os.write(self._number, b"\x04")

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            os.close(self._number)


class Program:
    """A process, joined to pipes or a terminal."""

    def __init__(self, argv: Sequence[str], *, tty: bool, stdin: bool) -> None:
        if shutil.which(argv[0]) is None:
            raise ExecFailed(CANNOT_START.format(argv[0]))
        self.stderr: BinaryIO | None
        self.stdin: Any = None
        self.stdout: Any
        self._terminal = -1
        if tty:
            self._terminal, far = pty.openpty()
            self.process = subprocess.Popen(
                argv, stdin=far, stdout=far, stderr=far, start_new_session=True
            )
            os.close(far)
            self.stdin = self.stdout = Terminal(self._terminal)
            self.stderr = None
        else:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                argv,
                stdin=pipe if stdin else subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                bufsize=0,
                start_new_session=True,
            )
            assert self.process.stdout is not None
            self.stdin, self.stdout = self.process.stdin, self.process.stdout
            self.stderr = self.process.stderr  # type: ignore[assignment]

    def resize(self, columns: int, rows: int) -> None:
        if self._terminal >= 0:
            fcntl.ioctl(
                self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0)
            )

    def wait(self) -> int:
        code = self.process.wait()
        return 128 - code if code < 0 else code

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Attached:
    """The ends of a container that echoes what it is told."""

    stderr = None

    def __init__(self, record: ContainerRecord) -> None:
        there, here = os.pipe()
        self.stdout: Any = os.fdopen(there, "rb", buffering=0)
        self.stdin: Any = os.fdopen(here, "wb", buffering=0)
        self._ended = threading.Event()

    def resize(self, columns: int, rows: int) -> None:
        pass

    def wait(self) -> int:
        self._ended.wait()
        return 0

    def kill(self) -> None:
        self._ended.set()
        with suppress(OSError):
            self.stdin.close()


class StandIn:
    """What the streams ask of a runtime."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records: dict[str, ContainerRecord] = {}
        self.pods: list[Tree] = []

    def add(
        self,
        pod: str,
        container: str = "main",
        log: str | None = None,
        *,
        state: ContainerState = ContainerState.RUNNING,
        host_network: bool = True,
    ) -> ContainerRecord:
        """Have a pod with one container, and return the container."""
        number = len(self._records)
        path = self._folder / f"{number}.log"
        if log is not None:
            path.write_text(log)
        record = ContainerRecord(
            id=f"{number:064x}",
            pod_uid=f"uid-{pod}",
            pod_namespace="default",
            pod_name=pod,
            name=container,
            attempt=0,
            image="busybox",
            image_id="sha256:0",
            state=state,
            exit_code=0,
            reason="",
            message="",
            created_at=1.0,
            started_at=2.0,
            finished_at=0.0,
            pid=1,
            log_path=path,
            init=False,
        )
        self._records[record.id] = record
        shown = "running" if state is ContainerState.RUNNING else "terminated"
        told = {"containerID": f"containerd://{record.id}"}
        self.pods.append(
            {
                "metadata": {"name": pod, "namespace": "default", "uid": record.pod_uid},
                "spec": {"containers": [{"name": container}], "hostNetwork": host_network},
                "status": {
                    "podIP": "10.0.0.1",
                    "startTime": "2026-01-01T00:00:00Z",
                    "containerStatuses": [{"name": container, "state": {shown: told}, **told}],
                },
            }
        )
        return record

    def end(self, record: ContainerRecord) -> None:
        """Let a container have exited."""
        self._records[record.id] = replace(record, state=ContainerState.EXITED)

    def find(self, namespace: str, pod: str, container: str) -> ContainerRecord | None:
        for record in self._records.values():
            if (record.pod_namespace, record.pod_name, record.name) == (namespace, pod, container):
                return record
        return None

    def containers(self) -> list[ContainerRecord]:
        return list(self._records.values())

    def record(self, container_id: str) -> ContainerRecord | None:
        return self._records.get(container_id)

    def exec(
        self, container_id: str, argv: Sequence[str], *, tty: bool = False, stdin: bool = False
    ) -> Program:
        return Program(argv, tty=tty, stdin=stdin)

    def exec_sync(self, container_id: str, argv: Sequence[str], timeout_seconds: float) -> Ended:
        done = subprocess.run(argv, capture_output=True, check=False)
        return Ended(done.returncode, done.stdout, done.stderr)

    def attach(self, container_id: str) -> Attached:
        return Attached(self._records[container_id])
