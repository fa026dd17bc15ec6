"""Serving one cluster: what it needs is opened in order, and closed in the opposite one.

Whatever happens on the way, an interrupt at any moment included, leaves a durable store, no context
in anybody's kubeconfig, and no lock.
"""

from __future__ import annotations

import gc
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import uvloop

from windtunnel.apiserver import read_tokens
from windtunnel.assembly.cluster import ENDING, Cluster
from windtunnel.assembly.ending import explained
from windtunnel.assembly.settings import PREFERRED_PORT, SERVICE_ADDRESS, Settings
from windtunnel.client import kubeconfig
from windtunnel.errors import ClusterError, DataError, UsageError
from windtunnel.home import Folder, Ready, Storage, open_storage
from windtunnel.home.certificates import provide
from windtunnel.kernel import WallClock
from windtunnel.machinery.admission import User
from windtunnel.machinery.timestamp import micro_time_text
from windtunnel.store import Store
from windtunnel.store.backend import Backend
from windtunnel.telemetry import Log

_ADDRESS: Final = "127.0.0.1"
"""Loopback only: the server is for trusted use on one's own machine."""
_BACKLOG: Final = 2048
_TOKENS_LIMIT: Final = 1 << 20
_COMMITTER_TURN_SECONDS: Final = 0.002
"""How long the deciding thread may keep the committer waiting for the interpreter.

Measured by bench-fill: at 0.5 ms the two threads spend a third of the CPU on handing it over, at
5 ms (Python's default) answers wait longer for their sync; 2 ms is the fastest.
"""


def serve(
    settings: Settings, ready: Ready, *, echo: bool = False, new: bool = False
) -> signal.Signals:
    """Serve one cluster until a signal says to stop; returns that signal.

    Args:
        settings: What was asked for.
        ready: Called once, when a pod can be created.
        echo: Copy the log to the error stream.
        new: Whether the state folder has just been made for this; a refusal takes it back.

    Raises:
        WindtunnelError: the cluster cannot be started or kept; nothing is left of it but its data.
    """
    # Until the loop runs, a polite request to end is the same as an interrupt.
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    # Nothing made here is garbage; the cluster turns collections on when it stands.
    gc.disable()
    clock = WallClock()
    with ExitStack() as held, ExitStack() as refused:
        folder = Folder(settings.name, settings.home)
        if new:
            refused.callback(folder.remove)
        known = kubeconfig.read(settings.kubeconfig)
        kubeconfig.check(settings.kubeconfig, known, folder.context)
        tokens = _tokens(settings.token_file)
        if settings.flags or settings.scheduler_file is not None:
            _judge_parts(settings)
        new = folder.create()
        held.callback(folder.hold().release)
        if new:
            refused.callback(folder.remove)
        log = _log(folder, clock, held, echo=echo)
        listener = held.enter_context(_listen(settings.port))
        storage = None if settings.ephemeral else _storage(settings, folder, held)
        keys = (folder.path if storage is None else storage.path) / "pki"
        keyring = provide(keys, clock.now(), SERVICE_ADDRESS)
        store = Store(_backend(storage), clock)
        held.callback(store.close)
        if storage is not None:
            storage.check(empty=store.empty)
        events = uvloop.new_event_loop()
        held.callback(events.close)
        sys.setswitchinterval(_COMMITTER_TURN_SECONDS)
        folder.remember_end("")
        refused.pop_all()
        try:
            cluster = Cluster(settings, storage, store, clock, keyring, tokens, log)
            return events.run_until_complete(cluster.run(folder, listener, ready, held))
        except Exception as error:
            why = explained(error, store)
            # A disk that is full must not hide why it ended.
            with suppress(DataError):
                folder.remember_end(str(why) or type(why).__name__)
            raise why from error


def _judge_parts(settings: Settings) -> None:
    """Let the parts judge what concerns them before anything is touched, though they come later."""
    from windtunnel.assembly.parts import part_settings

    part_settings(settings)


def _storage(settings: Settings, folder: Folder, held: ExitStack) -> Storage:
    """Take the data folder: the one asked for, or the one in which the cluster's data has been."""
    before = folder.remembered().data
    if settings.data_dir is None and before and not Path(before).is_dir():
        raise DataError(
            f"the data of cluster {folder.name} was in {before}, which is not there; "
            "say where it is with --data-dir"
        )
    storage = open_storage(settings.data_dir or Path(before or folder.default_data))
    held.callback(storage.release)
    folder.remember_data(storage.path)
    return storage


def _tokens(path: Path | None) -> dict[str, User]:
    if path is None:
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read(_TOKENS_LIMIT + 1)
        if len(text) > _TOKENS_LIMIT:
            raise UsageError(f"token file {path} is larger than {_TOKENS_LIMIT} characters")
        return read_tokens(text)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise UsageError(f"cannot read token file {path}: {why}") from error
    except ValueError as error:
        raise UsageError(f"token file {path} is malformed: {error}") from error


def _listen(port: int | None) -> socket.socket:
    """Bind the asked port; without one, the preferred port, or any if that is taken."""
    for candidate in [PREFERRED_PORT, 0] if port is None else [port]:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_ADDRESS, candidate))
            # At once: two sockets may be bound to one port, but only one can listen.
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if candidate == port:
                why = (error.strerror or str(error)).lower()
                raise ClusterError(f"cannot listen on port {port}: {why}") from error
        else:
            listener.setblocking(False)
            return listener
    raise ClusterError("there is no free port")


def _backend(storage: Storage | None) -> Backend:
    if storage is None:
        from windtunnel.store.memory import MemoryBackend

        return MemoryBackend()
    from windtunnel.store.sqlite import SqliteBackend

    return SqliteBackend(storage.database)


def _log(folder: Folder, clock: WallClock, held: ExitStack, *, echo: bool) -> Log:
    try:
        file = held.enter_context(folder.log.open("a", buffering=1))
    except OSError as error:
        raise DataError(f"cannot write {folder.log}: {error.strerror}") from error

    def write(line: str) -> None:
        # A disk that is full, or a reader who has gone, is no reason to leave what is under way.
        with suppress(OSError):
            file.write(line)
        if echo:
            with suppress(OSError, ValueError):
                sys.stderr.write(line)

    return Log(write, lambda: micro_time_text(clock.now()))
