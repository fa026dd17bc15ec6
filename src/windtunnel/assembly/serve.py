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

from windtunnel.apiserver.access.authentication import read_tokens
from windtunnel.apiserver.request import User
from windtunnel.assembly.cluster import Cluster
from windtunnel.assembly.settings import PREFERRED_PORT, SERVICE_ADDRESS, Settings
from windtunnel.client import kubeconfig
from windtunnel.errors import ClusterError, DataError, UsageError
from windtunnel.home import DATABASE, Folder, Ready, open_storage
from windtunnel.home.certificates import provide
from windtunnel.kernel import WallClock
from windtunnel.machinery.timestamp import micro_time_text
from windtunnel.store import Store
from windtunnel.store.backend import Backend
from windtunnel.telemetry import Log

_ADDRESS: Final = "127.0.0.1"
"""Loopback only: the server is for trusted use on one's own machine."""
_BACKLOG: Final = 2048
_COMMITTER_TURN_SECONDS: Final = 0.0005
"""How long the deciding thread may keep the committer waiting for the interpreter."""


def serve(settings: Settings, ready: Ready, *, echo: bool = False) -> signal.Signals:
    """Serve one cluster until a signal says to stop; returns that signal.

    Args:
        settings: What was asked for.
        ready: Called once, when a pod can be created.
        echo: Copy the log to the error stream.

    Raises:
        WindtunnelError: the cluster cannot be started or kept; nothing is left of it but its data.
    """
    # Until the loop runs, a polite request to end is the same as an interrupt.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Nothing made here is garbage; the cluster turns collections on when it stands.
    gc.disable()
    clock = WallClock()
    with ExitStack() as held:
        kubeconfig.read(settings.kubeconfig)
        tokens = _tokens(settings.token_file)
        if settings.flags:
            _judge_flags(settings)
        folder = Folder(settings.name, settings.home)
        folder.create()
        held.callback(folder.hold().release)
        log = _log(folder, clock, held, echo=echo)
        listener = held.enter_context(_listen(settings.port))
        data = None if settings.ephemeral else _storage(settings, folder, held)
        keyring = provide((data or folder.path) / "pki", clock.now(), SERVICE_ADDRESS)
        store = Store(_backend(data), clock)
        held.callback(store.close)
        events = uvloop.new_event_loop()
        held.callback(events.close)
        sys.setswitchinterval(_COMMITTER_TURN_SECONDS)
        place = "" if data is None else str(data)
        cluster = Cluster(settings, place, store, clock, keyring, tokens, log)
        folder.remember_end("")
        try:
            return events.run_until_complete(cluster.run(folder, listener, ready, held))
        except Exception as error:
            with suppress(DataError):
                folder.remember_end(str(error) or type(error).__name__)
            raise


def _judge_flags(settings: Settings) -> None:
    """Let the parts judge their flags before anything is touched, though they come later."""
    from windtunnel.assembly.parts import part_settings

    part_settings(settings)


def _storage(settings: Settings, folder: Folder, held: ExitStack) -> Path:
    """Take the data folder: the one asked for, or the one in which the cluster's data has been."""
    before = folder.remembered().data
    if settings.data_dir is None and before and not Path(before).is_dir():
        raise DataError(
            f"the data of cluster {folder.name} was in {before}, which is not there; "
            "say where it is with --data-dir"
        )
    data = settings.data_dir or Path(before or folder.default_data)
    held.callback(open_storage(data, folder.name).release)
    folder.remember_data(data)
    return data


def _tokens(path: Path | None) -> dict[str, User]:
    if path is None:
        return {}
    try:
        return read_tokens(path.read_text())
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


def _backend(data: Path | None) -> Backend:
    if data is None:
        from windtunnel.store.memory import MemoryBackend

        return MemoryBackend()
    from windtunnel.store.sqlite import SqliteBackend

    return SqliteBackend(data / DATABASE)


def _log(folder: Folder, clock: WallClock, held: ExitStack, *, echo: bool) -> Log:
    try:
        file = held.enter_context(folder.log.open("a", buffering=1))
    except OSError as error:
        raise DataError(f"cannot write {folder.log}: {error.strerror}") from error

    def write(line: str) -> None:
        file.write(line)
        if echo:
            sys.stderr.write(line)

    return Log(write, lambda: micro_time_text(clock.now()))
