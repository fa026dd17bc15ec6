"""Clusters in processes of their own: ``up --detach`` returns when a pod can be created.

The child is a fork, so that Python and the command line start once and not twice. It tells its
parent through a pipe that it serves, or in one sentence why it does not. Until then the parent
answers for it: an interrupt stops the child too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from windtunnel.errors import ClusterError, DataError, WindtunnelError, machine_refused
from windtunnel.home.process import Process, end_with_parent

Ready = Callable[[Process], None]


class _Said(WindtunnelError):
    """What the child said, to be said again by the parent."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def detached(serve: Callable[[Ready], object], log: Path, *, bound: bool = False) -> Process:
    """Run ``serve`` in a process of its own; return once it has called what it was handed.

    Args:
        serve: Serves a cluster until it is told to stop.
        log: Where the child's output goes.
        bound: Whether the child stops when this process ends, however it ends.

    Raises:
        WindtunnelError: the log cannot be written, or the child could not start the cluster.
    """
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise DataError(f"cannot write {log}: {error.strerror}") from error
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reader)
        if bound:
            end_with_parent(parent)
        _live(serve, writer, output)
    os.close(writer)
    os.close(output)
    try:
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.read()
    except KeyboardInterrupt:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        raise
    if not said:
        raise ClusterError(f"the cluster did not start; see {log}")
    message = json.loads(said)
    if "error" in message:
        raise _Said(message["error"], message["code"])
    return Process(**message)


def _live(serve: Callable[[Ready], object], writer: int, output: int) -> None:
    """Be the child; never returns."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)

    def say(message: dict[str, object]) -> None:
        os.write(writer, json.dumps(message).encode())
        os.close(writer)

    code = 0
    try:
        serve(lambda process: say(asdict(process)))
    except WindtunnelError as error:
        code = error.exit_code
        try:
            say({"error": str(error), "code": code})
        except OSError:
            # The parent has long got its answer; the sentence goes to the log instead.
            sys.stderr.write(f"{error}\n")
    except KeyboardInterrupt:
        code = 130
    except OSError as error:
        # No bug, but the machine: no room, no right.
        sys.excepthook(*sys.exc_info())
        code = 1
        with suppress(OSError):
            say({"error": machine_refused(error), "code": code})
    except BaseException:
        # A bug: whoever reads the log needs all of it.
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)
