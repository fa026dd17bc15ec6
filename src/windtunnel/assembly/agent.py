"""How an agent lives: one part in a process of its own, on whatever API server its pod has.

Settings come from the environment, steps are played on the main thread, which sleeps in between
and may block in a request: nobody else waits for it. A lost API server is waited for, at the start
and later; a part that fails ends the process with one sentence, for whoever started it to start it
again. Nothing of the server, of the command line or of asyncio is imported.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from windtunnel.client import incluster
from windtunnel.client.http import HttpClient
from windtunnel.errors import ClusterError, UsageError, WindtunnelError
from windtunnel.kernel import Actor, Loop, WallClock
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.timestamp import micro_time_text
from windtunnel.telemetry import Log

T = TypeVar("T")

PARENT: Final = "WINDTUNNEL_PARENT"
"""The variable that names the process with which an agent ends, if there is one."""
FAILED: Final = 1
"""The exit code of a part that cannot go on."""
_FIRST_PAUSE_SECONDS: Final = 0.5
_SETTINGS: Final = "settings are environment variables, which docs/reference/agents.md lists"
_LONGEST_PAUSE_SECONDS: Final = 10.0


class _Ended(Exception):
    """Somebody asked the process to end."""


class BlockingDrive:
    """Plays a loop's steps as they fall due, sleeping in between, until it is told to end.

    ``end`` may be called from a signal's handler, ``Loop.wake`` from any thread: both only put
    something into a queue that is made for that.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._nudges: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._ending = False
        loop.wake = self._nudge

    def end(self) -> None:
        """Play nothing after the present step."""
        self._ending = True
        self._nudges.put(None)

    def run(self) -> None:
        """Play until ``end``; what leaves a step leaves here."""
        while not self._ending:
            due = self._loop.next_due()
            self._sleep(None if due is None else due - self._loop.clock.now())
            if not self._ending:
                self._loop.run_due(0.0)

    def patiently(self, call: Callable[[], T], lost: Callable[[Exception], None]) -> T:
        """Call until the API server answers, with growing pauses; ``lost`` is told each time.

        Raises:
            _Ended: ``end`` came first.
        """
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return call()
            except ClusterError as error:
                lost(error)
            until = self._loop.clock.now() + pause
            while not self._ending and (left := until - self._loop.clock.now()) > 0:
                self._sleep(left)
            if self._ending:
                raise _Ended
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _nudge(self) -> None:
        if self._nudges.empty():
            self._nudges.put(None)

    def _sleep(self, seconds: float | None) -> None:
        with suppress(queue.Empty):
            self._nudges.get(seconds is None or seconds > 0, seconds)


class Berth:
    """What an agent's part is made from."""

    def __init__(
        self, environment: Mapping[str, str], arguments: Sequence[str], loop: Loop, log: Log
    ) -> None:
        self.environment, self.arguments = environment, arguments
        self.loop, self.log = loop, log

    def client(self, manager: str, *, watching: bool = True) -> HttpClient:
        """Return a new client of the API server.

        Args:
            manager: The field manager and user agent of what it writes.
            watching: Whether its watches hand over to the loop; a client for another thread may
                not watch.

        Raises:
            UsageError: there is no way to reach one.
        """
        connection = incluster.connect(self.environment)
        return HttpClient(connection, manager, self.loop if watching else None)


def run(name: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Be one agent, or one program, until it ends; return the exit code.

    Args:
        name: Which component.
        arguments: What follows its name on the command line.
        environment: Its settings; this process's own where none are given.
    """
    from windtunnel.assembly.components import AGENTS, PROGRAMS, WITH_ARGUMENTS

    settings = os.environ if environment is None else environment
    try:
        if name in PROGRAMS:
            return PROGRAMS[name](arguments, settings)
        make = AGENTS.get(name)
        if make is None:
            known = ", ".join((*AGENTS, *PROGRAMS))
            raise UsageError(f"there is no agent {name or repr(name)}; there are {known}")
        if arguments and name not in WITH_ARGUMENTS:
            return _refuse(name, arguments[0])
        return _live(make, name, arguments, settings)
    except WindtunnelError as error:
        _say(name, str(error))
        return error.exit_code
    except ApiError as error:
        _say(name, f"the API server refused: {error.message}")
        return FAILED


def _refuse(name: str, argument: str) -> int:
    """Say that an agent takes no arguments; to ask for help is no mistake."""
    if argument in ("-h", "--help"):
        sys.stdout.write(f"Usage: windtunnel agent {name}\n\nAn agent's {_SETTINGS}.\n")
        return 0
    raise UsageError(f"it takes no arguments such as {argument!r}; its {_SETTINGS}")


def _live(
    make: Callable[[Berth], Actor],
    name: str,
    arguments: Sequence[str],
    settings: Mapping[str, str],
) -> int:
    clock = WallClock()
    log = Log(_write, lambda: micro_time_text(clock.now()))

    def report(part: str, key: object, error: Exception) -> None:
        log.warning(part, "tries again", key=key, why=f"{type(error).__name__}: {error}")

    loop = Loop(clock, report)
    drive = BlockingDrive(loop)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: drive.end())
    berth = Berth(settings, arguments, loop, log)

    def lost(error: Exception) -> None:
        log.warning(name, "waits for the API server", why=error)

    def begin() -> Actor:
        part = make(berth)
        try:
            part.start()
        except BaseException:
            part.stop()
            raise
        return part

    try:
        part = drive.patiently(begin, lost)
    except _Ended:
        return 0
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        _say(name, f"cannot begin: {error.strerror or error}{where}")
        return FAILED
    log.info(name, "stands")
    try:
        drive.run()
    except (WindtunnelError, ApiError):
        raise
    except Exception as error:
        import traceback

        log.error(name, "failed", where="".join(traceback.format_exception(error)).strip())
        _say(name, f"ends, for it failed: {type(error).__name__}: {error}")
        return FAILED
    finally:
        part.stop()
    log.info(name, "ends")
    return 0


def _say(name: str, sentence: str) -> None:
    _write(f"windtunnel agent {name}: {sentence}\n" if name else f"windtunnel agent: {sentence}\n")


def _write(line: str) -> None:
    # Whoever reads the log may have gone; that is no reason to end.
    with suppress(OSError, ValueError):
        sys.stderr.write(line)
        sys.stderr.flush()
