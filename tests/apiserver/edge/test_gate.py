"""Nothing leaves before it is durable: answers, refusals, streams and calls outside."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from windtunnel.apiserver.edge.protocol import CertificateProtocol
from windtunnel.apiserver.request import Answer, Outcome, Request
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.admission import Ask
from windtunnel.machinery.tree import Key
from windtunnel.store import Store, Version
from windtunnel.store.sqlite import SqliteBackend

TELLS = re.compile(rb"revision=(\d+);")


class HeldDisk(SqliteBackend):
    """Commits when it is let, and remembers what is synced."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.allowed = threading.Event()
        self.synced = 1
        self.syncs = 0
        self.breaks = False

    def commit(self, versions: Sequence[Version]) -> None:
        self.allowed.wait(10)
        if self.breaks:
            raise OSError(28, "No space left on device")
        super().commit(versions)
        self.synced = versions[-1].revision
        self.syncs += 1


class Core:
    """Writes on POST, reads on GET, refuses on DELETE; every answer tells its revision."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.handled = 0

    def handle(self, request: Request) -> Outcome:
        self.handled += 1
        if request.method == "POST":
            self.store.put(
                "pods", Key("ns", request.path), body=lambda _: b"{}", expected=None, uid="",
                labels={}, fields={},
            )  # fmt: skip
        status = 404 if request.method == "DELETE" else 200
        return Answer(status, b"revision=%d;" % self.store.revision)


@pytest.fixture
def disk(tmp_path: Path) -> HeldDisk:
    return HeldDisk(tmp_path / "state.db")


def let_turn(served: Any, core: Core, handled: int) -> None:
    """Let the server's loop turn until so many requests are handled, and then some more."""
    while core.handled < handled:
        served.on_its_thread(lambda: None)
    for _ in range(20):
        served.on_its_thread(lambda: None)


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "POST"])
def test_an_answer_waits_for_all_that_was_written_before_it(
    serve: Any, disk: HeldDisk, method: str
) -> None:
    core = Core(Store(disk, VirtualClock()))
    served = serve(core.handle, core.store)
    with ThreadPoolExecutor(2) as clients:
        write = clients.submit(served.ask, "POST", "/a", b"{}")
        let_turn(served, core, 1)
        read = clients.submit(served.ask, method, "/a")

        let_turn(served, core, 2)
        assert not write.done()
        assert not read.done()
        disk.allowed.set()
        assert write.result(10).body == b"revision=2;"
        assert read.result(10).status in (200, 404)


def test_a_call_outside_waits_too(serve: Any, disk: HeldDisk, silent_port: int) -> None:
    core = Core(Store(disk, VirtualClock()))
    handled: list[int] = []

    def handle(request: Request) -> Outcome:
        core.handle(request)
        handled.append(len(request.answers))
        if request.answers:
            return Answer(200, b"")
        return Ask("hook", f"http://127.0.0.1:{silent_port}/", b"{}", timeout_seconds=0.01)

    served = serve(handle, core.store)
    with ThreadPoolExecutor(1) as client:
        write = client.submit(served.ask, "POST", "/a", b"{}")
        let_turn(served, core, 1)
        assert handled == [0]
        disk.allowed.set()
        assert write.result(10).status == 200


def test_no_byte_tells_of_a_revision_that_is_not_synced(
    serve: Any, disk: HeldDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    connection_made = CertificateProtocol.connection_made

    def recording(protocol: CertificateProtocol, transport: Any) -> None:
        connection_made(protocol, transport)
        protocol.transport = Recorder(transport)  # type: ignore[assignment]

    class Recorder:
        """Notes, as bytes leave, what they tell and what is synced at that moment."""

        def __init__(self, transport: Any) -> None:
            self._transport = transport

        def write(self, data: bytes) -> None:
            for match in TELLS.finditer(bytes(data)):
                told.append((int(match[1]), disk.synced))
            self._transport.write(data)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._transport, name)

    monkeypatch.setattr(CertificateProtocol, "connection_made", recording)
    disk.allowed.set()
    core = Core(Store(disk, VirtualClock()))
    served = serve(core.handle, core.store)

    def client(number: int) -> None:
        connection = served.connect()
        for turn in range(25):
            connection.request("GET" if turn % 4 == 3 else "POST", f"/{number}-{turn}", b"{}")
            connection.getresponse().read()

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(client, range(8)))

    assert len(told) == 200
    assert [pair for pair in told if pair[0] > pair[1]] == []
    assert 1 <= disk.syncs <= core.store.revision


def test_after_the_disk_has_failed_nothing_unsynced_is_told(serve: Any, disk: HeldDisk) -> None:
    core = Core(Store(disk, VirtualClock()))
    served = serve(core.handle, core.store)
    disk.breaks = True
    with ThreadPoolExecutor(2) as clients:
        write = clients.submit(served.ask, "POST", "/a", b"{}")
        let_turn(served, core, 1)
        read = clients.submit(served.ask, "GET", "/a")
        let_turn(served, core, 2)
        disk.allowed.set()

        for got in (write.result(10), read.result(10)):
            assert got.status == 500
            assert b"revision=" not in got.body
            assert "No space left on device" in msgspec.json.decode(got.body)["message"]
    assert served.ask("POST", "/b", b"{}").status == 500


TRACED_SERVER = """
import asyncio, pathlib, socket, sys
import uvloop
from windtunnel.apiserver.edge import Server
from windtunnel.apiserver.request import Answer
from windtunnel.kernel import WallClock
from windtunnel.machinery.tree import Key
from windtunnel.store import Store
from windtunnel.store.sqlite import SqliteBackend

async def main():
    store = Store(SqliteBackend(pathlib.Path(sys.argv[1])), WallClock())
    def handle(request):
        text = request.body
        store.put("pods", Key("ns", text.decode()), body=lambda _: b"stored:" + text + b";",
                  expected=0, uid="", labels={}, fields={})
        return Answer(201, b"answer:" + text + b";")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = Server(handle, store, WallClock(), crashed=print)
    print((await server.start(listener))[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop()
    store.close()

uvloop.run(main())
"""
STORED, ANSWERED = re.compile(r"stored:(\w+);"), re.compile(r"answer:(\w+);")


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_kernel_sees_every_answer_leave_after_its_sync(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    command = [
        "strace", "-f", "-s", "5000", "-o", str(trace), "-e",
        "trace=pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg",
        sys.executable, "-c", TRACED_SERVER, str(tmp_path / "state.db"),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        first = server.stdout.readline()
        if not first:
            pytest.skip("strace may not trace here")

        def client(number: int) -> None:
            import http.client

            connection = http.client.HTTPConnection("127.0.0.1", int(first), timeout=30)
            for turn in range(10):
                connection.request("POST", "/", f"w{number}x{turn}")
                assert connection.getresponse().read() == f"answer:w{number}x{turn};".encode()
            connection.close()

        with ThreadPoolExecutor(4) as clients:
            list(clients.map(client, range(4)))
        server.stdin.close()
        assert server.wait(30) == 0

    syncs, answers = judge(trace.read_text(errors="replace").splitlines())
    assert answers == 40
    assert syncs >= 1


def judge(lines: list[str]) -> tuple[int, int]:
    """Walk through the system calls in order; count syncs and answers, refuse an early answer."""
    written: set[str] = set()
    syncing: dict[str, set[str]] = {}
    synced: set[str] = set()
    syncs = answers = 0
    for line in lines:
        thread = line.split(maxsplit=1)[0]
        if "pwrite64(" in line:
            written.update(STORED.findall(line))
        elif ("fdatasync(" in line or "fsync(" in line) and "resumed" not in line:
            syncing[thread] = set(written)
            if line.rstrip().endswith("= 0"):
                synced |= syncing.pop(thread)
                syncs += 1
        elif "sync resumed>" in line:
            synced |= syncing.pop(thread, set())
            syncs += 1
        elif "resumed" not in line:
            for token in ANSWERED.findall(line):
                assert token in synced, f"{token} was answered before it was synced"
                answers += 1
    return syncs, answers
