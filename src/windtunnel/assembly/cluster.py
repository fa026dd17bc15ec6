"""One cluster that is served: how it begins, what keeps it going, what ends it.

Everything that decides runs on one thread: the parts are steps of one loop, requests come between.
The API listens first; the parts, whose import takes longer than everything before, come while the
first requests are answered.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import signal
import socket
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Final

from windtunnel.apiserver import Core, LocalClient, Signer
from windtunnel.apiserver.edge import Certificates, Server
from windtunnel.assembly.drive import Drive
from windtunnel.assembly.furnish import provide_account, provide_runtime_classes
from windtunnel.assembly.settings import NODE, SERVICE_RANGE, Settings
from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.errors import BrokenInvariant
from windtunnel.home import Folder, Process, Ready, Storage, birth
from windtunnel.home.certificates import Keyring
from windtunnel.home.files import write_private
from windtunnel.kernel import Actor, Loop, WallClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.admission import User
from windtunnel.store import Store
from windtunnel.telemetry import Log

if TYPE_CHECKING:
    from windtunnel.assembly.node_process import NodeProcess
    from windtunnel.assembly.parts import Parts, PartSettings

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a cluster to stop: Ctrl-C, ``down``, a terminal that is closed."""
_GARBAGE_THRESHOLDS: Final = (10_000, 1_000, 100)
"""Hardly anything here has cycles. A look at the youngest objects takes 5 ms; a look at those that
survived it took 200 ms with 5,000 pods, and comes a thousand times less often."""

_FIRST_STEPS_SECONDS: Final = 2.0
"""How long a cluster that goes on with its data may catch up before it says that it is up."""
_LOOK_SECONDS: Final = 0.005


class Cluster:
    """The wired parts of one cluster, and how they begin and end."""

    def __init__(
        self,
        settings: Settings,
        storage: Storage | None,
        store: Store,
        clock: WallClock,
        keyring: Keyring,
        tokens: dict[str, User],
        log: Log,
    ) -> None:
        self._settings, self._store, self._keyring, self._log = settings, store, keyring, log
        self._clock, self._storage = clock, storage
        self.loop = Loop(clock, self._report)
        self._resumes = not store.empty  # asked now: the core begins with objects of its own
        self.core = Core(
            store,
            Catalogue(builtin_kinds()),
            clock,
            tokens=tokens,
            signer=Signer.load(keyring.accounts_key.read_bytes()),
            service_range=SERVICE_RANGE,
            admission_plugins=settings.admission_plugins,
        )
        self._parts: list[Actor] = []
        """What runs beside the API, in the order in which it was started."""
        self._node: NodeProcess | None = None
        self._ended: asyncio.Future[signal.Signals] | None = None

    async def run(
        self, folder: Folder, listener: socket.socket, ready: Ready, held: ExitStack
    ) -> signal.Signals:
        """Serve until a signal comes or something breaks."""
        ended: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
        self._ended = ended
        self._store.failed = self._stop_with
        self._heed_signals(ended)
        server = Server(self.core.handle, self._store, self._clock, crashed=self._crashed)
        self._store.on_durable(self._check_disk, asyncio.get_running_loop().call_soon_threadsafe)
        drive = Drive(self.loop, self._stop_with)
        starting: asyncio.Task[None] | None = None
        try:
            self._furnish(self._client(server, "windtunnel"))
            keyring = self._keyring
            tls = Certificates(
                keyring.server,
                keyring.server_key,
                keyring.authority,
                kubelet_client=(keyring.kubelet_client, keyring.kubelet_client_key),
            )
            address, port = await server.start(listener, tls)
            if self._storage is not None:
                self._store.flush()
                self._storage.begin()
            if not ended.done():
                url = f"https://{address}:{port}"
                process = self._introduce(folder, url, held)
                starting = asyncio.create_task(self._start_parts(server, folder, url))
                if self._resumes:
                    await self._first_steps(starting, ended)
                if not ended.done():
                    ready(process)
            return await ended
        finally:
            # From here on nothing may cut the farewell short; all of it is bounded.
            for number in ENDING:
                asyncio.get_running_loop().remove_signal_handler(number)
                signal.signal(number, signal.SIG_IGN)
            if starting is not None:
                starting.cancel()
            if self._node is not None:
                # In a thread: while the node ends its containers it may still have to say so.
                await asyncio.to_thread(self._node.stop)
            for part in reversed(self._parts):
                part.stop()
            drive.stop()
            await server.stop()
            self._log.info("cluster", "stopped", revision=self._store.revision)

    async def _first_steps(
        self, starting: asyncio.Task[None], ended: asyncio.Future[signal.Signals]
    ) -> None:
        """Wait until the parts have seen what there is and done what is due: it may end them."""
        await asyncio.wait((starting, ended), return_when=asyncio.FIRST_COMPLETED)
        patience = self._clock.now() + _FIRST_STEPS_SECONDS
        while not ended.done() and (due := self.loop.next_due()) is not None:
            now = self._clock.now()
            if due > now or now > patience:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _start_parts(self, server: Server, folder: Folder, url: str) -> None:
        """Start our own parts, but for those whose place the real ones are to take."""
        try:
            if self._settings.has_kubelet:
                self._start_node(folder, url)
            if self._settings.has_parts:
                # In a thread: while the parts are imported, requests have their turn.
                make, read = await asyncio.to_thread(_wiring)
                settings = read(self._settings, self._keyring.authority.read_text())
                self._start(make(partial(self._client, server), self.loop, settings))
            if self._settings.has_operator:
                from windtunnel.gpu.chart.installation import Installation

                self._start(Installation(self._client(server, "helm"), self.loop, NODE))
        except Exception as error:
            self._stop_with(error)
        _rest_garbage()

    def _start(self, part: Actor) -> None:
        self._parts.append(part)
        part.start()

    def _start_node(self, folder: Folder, url: str) -> None:
        from windtunnel.assembly.node_process import node_process

        if self._storage is None and folder.node.exists():
            # An ephemeral cluster knows nothing of what an earlier one has run.
            shutil.rmtree(folder.node)
        self._node = node_process(folder.node, self._keyring, url, self.loop, self._log)
        self._node.start()

    def _client(self, server: Server, name: str) -> LocalClient:
        return LocalClient(self.core, f"system:{name}", name, asks=server.asks.start)

    def _furnish(self, client: LocalClient) -> None:
        """Create what is to be there before anybody asks: ordered nodes, and the way for pods."""
        for order in self._settings.pools:
            from windtunnel.nodes.orders import provide_pool

            added = provide_pool(client, order)
            self._log.info("cluster", "pool", pool=order.name, nodes_added=added)
        provide_account(client, self._settings.without)
        if self._settings.has_kubelet:
            provide_runtime_classes(client)

    def _introduce(self, folder: Folder, url: str, held: ExitStack) -> Process:
        """Tell everyone where the cluster is: its folder, the user's kubeconfig, the log."""
        settings, keyring = self._settings, self._keyring
        connection = Connection(
            url,
            ca=keyring.authority.read_bytes(),
            certificate=keyring.admin.read_bytes(),
            key=keyring.admin_key.read_bytes(),
        )
        own = json.dumps(kubeconfig.entry(folder.context, connection), indent=2)
        write_private(folder.kubeconfig, own.encode())
        held.callback(kubeconfig.remove_context, settings.kubeconfig, folder.context)
        kubeconfig.add_context(settings.kubeconfig, folder.context, connection)
        data = "" if self._storage is None else str(self._storage.path)
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
        return process

    def _heed_signals(self, ended: asyncio.Future[signal.Signals]) -> None:
        def stop(number: signal.Signals) -> None:
            if not ended.done():
                self._log.info("cluster", "stopping", signal=number.name)
                ended.set_result(number)

        for number in ENDING:
            # Who started us may have asked to outlive his terminal (nohup).
            if signal.getsignal(number) != signal.SIG_IGN:
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


def _wiring() -> tuple[type[Parts], Callable[[Settings, str], PartSettings]]:
    from windtunnel.assembly.parts import Parts, part_settings

    return Parts, part_settings


def _rest_garbage() -> None:
    """Leave what stays for good out of every collection, and collect seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    gc.enable()


def _story(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).strip()
