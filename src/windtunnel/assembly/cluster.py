"""One cluster's parts, made by plain calls in the order in which they stand, and how they run.

Everything that decides runs on one thread: the parts are steps of one loop, requests come between.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, Protocol

import msgspec

from windtunnel.apiserver.access.tokens import Signer
from windtunnel.apiserver.core import Core
from windtunnel.apiserver.edge import Certificates, Server
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.apiserver.request import User
from windtunnel.assembly.certificates import Keyring
from windtunnel.assembly.drive import Drive
from windtunnel.assembly.pools import provide_pool
from windtunnel.assembly.settings import SERVICE_RANGE, Settings, read_flags
from windtunnel.assembly.state import Folder, Process, birth, write_private
from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import Loop, WallClock
from windtunnel.kinds.served.registry import Catalogue, builtin_kinds
from windtunnel.machinery.tree import Key
from windtunnel.store import Store
from windtunnel.telemetry import Log

_GARBAGE_THRESHOLD: Final = 50_000
"""Trees come and go by the ten thousand; at the default of 700 the collector never rests."""

Ready = Callable[[Process], None]


class Part(Protocol):
    """Something that was started and can be stopped."""

    def stop(self) -> None:
        """Stop; nothing of it happens afterwards."""


class Cluster:
    """The wired parts of one cluster, and how they begin and end."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock: WallClock,
        keyring: Keyring,
        tokens: dict[str, User],
        log: Log,
    ) -> None:
        self._settings, self._store, self._keyring, self._log = settings, store, keyring, log
        self._clock = clock
        self.loop = Loop(clock, self._report)
        self.core = Core(
            store,
            Catalogue(builtin_kinds()),
            clock,
            tokens=tokens,
            signer=Signer.load(keyring.accounts_key.read_bytes()),
            service_range=SERVICE_RANGE,
        )
        self._ended: asyncio.Future[signal.Signals] | None = None

    async def run(
        self, folder: Folder, listener: socket.socket, ready: Ready, held: ExitStack
    ) -> signal.Signals:
        """Serve until a signal comes or something breaks."""
        ended: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
        self._ended = ended
        self._heed_signals(ended)
        server = Server(self.core.handle, self._store, self._clock, crashed=self._crashed)
        self._store.on_durable(self._check_disk, asyncio.get_running_loop().call_soon_threadsafe)
        drive = Drive(self.loop, self._stop_with)
        parts: list[Part] = []
        try:
            for order in self._settings.pools:
                added = provide_pool(self._client("windtunnel", server), order)
                self._log.info("cluster", "pool", pool=order.name, nodes_added=added)
            parts = self._start_parts(server)
            tls = Certificates(
                self._keyring.server, self._keyring.server_key, self._keyring.authority
            )
            address, port = await server.start(listener, tls)
            welcome = asyncio.ensure_future(self._pods_welcome())
            awaited: set[asyncio.Future[None] | asyncio.Future[signal.Signals]] = {welcome, ended}
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            welcome.cancel()
            if not ended.done():
                gc.collect()
                gc.freeze()
                gc.set_threshold(_GARBAGE_THRESHOLD)
                self._introduce(folder, f"https://{address}:{port}", ready, held)
            return await ended
        finally:
            # From here on nothing may cut the farewell short; all of it is bounded.
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().remove_signal_handler(number)
                signal.signal(number, signal.SIG_IGN)
            for part in reversed(parts):
                part.stop()
            drive.stop()
            await server.stop()
            self._log.info("cluster", "stopped", revision=self._store.revision)

    def _start_parts(self, server: Server) -> list[Part]:
        """Start our own parts, but for those whose place the real ones are to take."""
        without, parts = self._settings.without, list[Part]()
        if "controllers" not in without:
            from windtunnel import controllers

            flags = msgspec.structs.replace(
                read_flags(self._settings, "controllers", controllers.Settings),
                root_ca=self._keyring.authority.read_text(),
            )
            client = self._client("kube-controller-manager", server)
            started = controllers.Controllers(client, self.loop, flags)
            started.start()
            parts.append(started)
        if "scheduler" not in without:
            from windtunnel.scheduler import Scheduler

            client = self._client("kube-scheduler", server)
            scheduler = Scheduler(client, self.loop, self._clock)
            scheduler.start()
            parts.append(scheduler)
        if "nodes" not in without:
            from windtunnel.gpu import GpuCapacity
            from windtunnel.nodes import played

            options = read_flags(self._settings, "nodes", played.Settings)
            nodes = played.PlayedNodes(self._client("kwok", server), self.loop, options)
            nodes.start()
            capacity = GpuCapacity(self._client("fake-gpu-operator", server), self.loop)
            capacity.start()
            parts += [nodes, capacity]
        return parts

    def _client(self, manager: str, server: Server) -> LocalClient:
        return LocalClient(self.core, f"system:{manager}", manager, asks=server.asks.start)

    async def _pods_welcome(self) -> None:
        """Wait until a pod can be created: namespace default needs its service account."""
        key = Key("default", "default")
        if "controllers" in self._settings.without or self._store.get("serviceaccounts", key):
            return
        made = asyncio.get_running_loop().create_future()

        def look(version: object) -> None:
            if getattr(version, "key", None) == key and not made.done():
                made.set_result(None)

        stop = self._store.subscribe("serviceaccounts", look)
        try:
            await made
        finally:
            stop()

    def _introduce(self, folder: Folder, url: str, ready: Ready, held: ExitStack) -> None:
        """Tell everyone where the cluster is: its folder, the user's kubeconfig, the log."""
        settings, keyring = self._settings, self._keyring
        connection = Connection(
            url,
            ca=keyring.authority.read_bytes(),
            certificate=keyring.admin.read_bytes(),
            key=keyring.admin_key.read_bytes(),
        )
        own = json.dumps(kubeconfig.entry(settings.context, connection), indent=2)
        write_private(folder.kubeconfig, own.encode())
        held.callback(kubeconfig.remove_context, settings.kubeconfig, settings.context)
        kubeconfig.add_context(settings.kubeconfig, settings.context, connection)
        data = "" if settings.ephemeral else str(settings.data_dir or folder.default_data)
        pid = os.getpid()
        process = Process(
            pid=pid,
            started=birth(pid),
            url=url,
            kubeconfig=str(settings.kubeconfig),
            data=data,
            without=sorted(settings.without),
        )
        held.callback(folder.forget_process)
        folder.write_process(process)
        self._log.info("cluster", "serving", url=url, pid=pid, data=data or "ephemeral")
        ready(process)

    # What ends a cluster

    def _heed_signals(self, ended: asyncio.Future[signal.Signals]) -> None:
        def stop(number: signal.Signals) -> None:
            if not ended.done():
                self._log.info("cluster", "stopping", signal=number.name)
                ended.set_result(number)

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)

    def _check_disk(self) -> None:
        if self._store.failure is not None:
            self._stop_with(self._store.failure)

    def _crashed(self, error: Exception) -> None:
        """Report a bug met by a request; only a broken invariant ends the cluster."""
        if isinstance(error, BrokenInvariant):
            self._stop_with(error)
        else:
            self._log.error("apiserver", "a request failed", why=_story(error))

    def _stop_with(self, error: Exception) -> None:
        self._log.error("cluster", "cannot go on", why=_story(error))
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)

    def _report(self, part: str, key: object, error: Exception) -> None:
        self._log.warning(part, "tries again", key=key, why=f"{type(error).__name__}: {error}")


def _story(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).strip()
