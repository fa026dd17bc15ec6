"""The way into a running container: for programs beside its first, and for who attaches to that.

A program that enters is put into the container's namespaces and control group from outside, and has
the environment that the container was made with.
"""

from __future__ import annotations

import contextlib
import os
import pty
import secrets
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from windtunnel.nodes.kubelet.durations import spoken
from windtunnel.nodes.kubelet.runtime.bundle import Bundle
from windtunnel.nodes.kubelet.runtime.container import Container
from windtunnel.nodes.kubelet.runtime.entry import Missing, find_program, inside, open_terminal
from windtunnel.nodes.kubelet.runtime.execution import (
    AttachedExec,
    ProcessExec,
    reading,
    set_size,
    writing,
)
from windtunnel.nodes.kubelet.runtime.isolation import Tools
from windtunnel.nodes.kubelet.runtime.keeper import Keeper
from windtunnel.nodes.kubelet.runtime.programs import shell_level
from windtunnel.nodes.kubelet.runtime.protocol import Ended, ExecFailed, ExecTimedOut

_JOIN: Final = 'echo 0 > "$0" && exec "$@"'


class Doorway:
    """One running container, as far as it is entered.

    Args:
        container: The container.
        bundle: What it was made of.
        tools: This machine's programs.
        keeper: Whose thread processes are started on.
        isolated: Whether it has namespaces and a root of its own.
    """

    def __init__(
        self, container: Container, bundle: Bundle, tools: Tools, keeper: Keeper, *, isolated: bool
    ) -> None:
        self._container, self._bundle = container, bundle
        self._tools, self._keeper, self._isolated = tools, keeper, isolated

    def exec(self, argv: Sequence[str], *, tty: bool, stdin: bool) -> ProcessExec:
        """Run a program; raises ExecFailed."""
        command, environment = self._command(argv, tty=tty)
        if tty:
            return self._exec_on_terminal(command, environment, stdin=stdin)
        process = self._spawn(
            command,
            environment,
            subprocess.PIPE if stdin else subprocess.DEVNULL,
            subprocess.PIPE,
            subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        return ProcessExec(
            process,
            process.stdin,  # type: ignore[arg-type]
            process.stdout,  # type: ignore[arg-type]
            process.stderr,  # type: ignore[arg-type]
        )

    def exec_sync(self, argv: Sequence[str], timeout_seconds: float) -> Ended:
        """Run a program to its end. 0 seconds: no limit.

        Raises:
            ExecFailed: it cannot be run.
            ExecTimedOut: it took too long.
        """
        command, environment = self._command(argv, tty=False)
        process = self._spawn(
            command, environment, subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE
        )
        try:
            out, err = process.communicate(timeout=timeout_seconds or None)
        except subprocess.TimeoutExpired as late:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            written = (late.output or b"") + (late.stderr or b"")
            process.wait()
            for file in (process.stdout, process.stderr):
                if file is not None:
                    file.close()
            told = f'command timed out: "{" ".join(argv)}" timed out after '
            raise ExecTimedOut(told + spoken(timeout_seconds), written) from None
        code = process.returncode
        return Ended(128 - code if code < 0 else code, out, err)

    def attach(self) -> AttachedExec:
        """Open the ends of the first process."""
        container = self._container

        def wait() -> int:
            container.exited.wait()
            return container.record.exit_code

        def resize(columns: int, rows: int) -> None:
            self._keeper.do(lambda: set_size(container.terminal, columns, rows))

        def open_ends() -> AttachedExec:
            stdin = None
            if container.order.tty and container.terminal >= 0:
                stdin = writing(os.dup(container.terminal))
            elif container.stdin >= 0:
                stdin = writing(os.dup(container.stdin))
                if container.order.stdin_once:
                    container.close_stdin()
            attached = AttachedExec(stdin, resize, wait, terminal=container.order.tty)
            container.tap(attached)
            return attached

        return self._keeper.do(open_ends)

    def _command(self, argv: Sequence[str], *, tty: bool) -> tuple[list[str], dict[str, str]]:
        """Return the command that runs ``argv`` inside, and its environment."""
        container, bundle = self._container, self._bundle
        pid = container.record.pid
        root = f"/proc/{pid}/root" if self._isolated else "/"
        name = argv[0]
        own = Path(f"{bundle.folder}/root{name}")
        if not self._isolated and name.startswith("/") and own.exists():
            name = str(own)
        try:
            find_program(root, name, bundle.environment["PATH"], bundle.working_dir)
        except Missing as missing:
            raise ExecFailed(
                f'failed to exec in container: failed to start exec "{secrets.token_hex(32)}": '
                "OCI runtime exec failed: exec failed: unable to start container process: "
                f"{missing}: unknown"
            ) from None
        command: list[str] = []
        if container.group is not None:
            command = ["/bin/sh", "-c", _JOIN, str(container.group.procs)]
        if self._isolated:
            folder = inside(root, bundle.working_dir).removeprefix(root)
            words = (name, *argv[1:])
            command += self._tools.enter(bundle.identity, pid, folder, words, terminal=tty)
        else:
            if tty and self._tools.setsid:
                command += [self._tools.setsid, "--ctty"]
            command += ["/usr/bin/env", "-C", bundle.working_dir, name, *argv[1:]]
        environment = {**shell_level(tuple(argv)), **bundle.environment}
        if tty:
            environment.setdefault("TERM", "xterm")
        return command, environment

    def _exec_on_terminal(
        self, command: list[str], environment: dict[str, str], *, stdin: bool
    ) -> ProcessExec:
        master, slave = self._open_terminal()
        # Without namespaces ``setsid`` comes first, and would fork if there were a session already.
        process = self._spawn(command, environment, slave, slave, slave, session=self._isolated)
        os.close(slave)
        given = writing(os.dup(master)) if stdin else None
        return ProcessExec(process, given, reading(master, terminal=True), None, master)

    def _open_terminal(self) -> tuple[int, int]:
        """Open a terminal of the container's own, whose name programs in it can tell."""
        if self._isolated:
            identity = self._bundle.identity
            # A folder of the order may lie where the container's terminals would.
            with contextlib.suppress(OSError):
                root = f"/proc/{self._container.record.pid}/root"
                master, slave = open_terminal(f"{root}/dev/pts/ptmx")
                if self._tools.root:
                    os.fchown(slave, identity.user, identity.group)
                return master, slave
        return pty.openpty()

    def _spawn(
        self,
        command: list[str],
        environment: dict[str, str],
        stdin: int,
        stdout: int,
        stderr: int,
        *,
        session: bool = True,
    ) -> subprocess.Popen[bytes]:
        return self._keeper.do(
            lambda: subprocess.Popen(
                command,
                env=environment,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                cwd="/",
                start_new_session=session,
            )
        )
