"""Watches: in order, when durable, and never left hanging."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from windtunnel.apiserver.edge import streams
from windtunnel.apiserver.edge.gate import Gate
from windtunnel.apiserver.edge.streams import Pump
from windtunnel.apiserver.request import Answer, Frame, Outcome, Request
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key
from windtunnel.store import Store, Version
from windtunnel.store.memory import MemoryBackend
from windtunnel.store.sqlite import SqliteBackend


class Watch:
    """A stream of every change, one line each: its revision."""

    content_type = "application/json"

    def __init__(self, store: Store, timeout_seconds: float = 60.0) -> None:
        self.store, self.timeout_seconds = store, timeout_seconds
        self.headers: list[tuple[str, str]] = []
        self.deliver: Callable[[Frame], None] | None = None
        self.closed = 0
        self._stop: Callable[[], None] | None = None

    def open(self, deliver: Callable[[Frame], None]) -> None:
        self.deliver = deliver
        for version in self.store.list("pods"):
            deliver(self.frame(version))
        self._stop = self.store.subscribe("pods", lambda version: deliver(self.frame(version)))

    def frame(self, version: Version) -> Frame:
        return Frame(version.revision, b"%d\n" % version.revision, version.key.name == "last")

    def bookmark(self, revision: int) -> Frame | None:
        return Frame(revision, b"up to %d\n" % revision)

    def close(self) -> None:
        self.closed += 1
        if self._stop is not None:
            self._stop()


class Core:
    """POST writes an object named like the path; GET watches."""

    def __init__(self, store: Store, timeout_seconds: float = 60.0) -> None:
        self.store, self.timeout_seconds = store, timeout_seconds
        self.watches: list[Watch] = []

    def handle(self, request: Request) -> Outcome:
        if request.method == "GET":
            self.watches.append(Watch(self.store, self.timeout_seconds))
            return self.watches[-1]
        write(self.store, request.path.strip("/"))
        return Answer(200, b"{}")


def write(store: Store, name: str) -> None:
    store.put(
        "pods", Key("ns", name), body=lambda _: b"{}", expected=None, uid="", labels={}, fields={}
    )


@pytest.fixture
def core() -> Core:
    return Core(Store(MemoryBackend(), VirtualClock()))


def test_a_watch_tells_what_is_there_and_then_every_change(serve: Any, core: Core) -> None:
    write(core.store, "a")
    served = serve(core.handle, core.store)
    watch = served.watch()

    assert watch.getheader("content-type") == "application/json"
    assert watch.getheader("transfer-encoding") == "chunked"
    assert watch.readline() == b"2\n"
    for name in "bcd":
        served.ask("POST", f"/{name}", b"")
    assert [watch.readline() for _ in range(3)] == [b"3\n", b"4\n", b"5\n"]


def test_a_watch_of_nothing_answers_at_once(serve: Any, core: Core) -> None:
    watch = serve(core.handle, core.store).watch()

    assert watch.status == 200


def test_the_last_frame_ends_the_stream(serve: Any, core: Core) -> None:
    served = serve(core.handle, core.store)
    watch = served.watch()
    served.ask("POST", "/last", b"")

    assert watch.read() == b"2\n"
    assert core.watches[0].closed == 1


def test_a_stream_ends_when_its_time_is_up(serve: Any) -> None:
    core = Core(Store(MemoryBackend(), VirtualClock()), timeout_seconds=0.01)
    write(core.store, "a")

    assert serve(core.handle, core.store).watch().read() == b"2\n"


def test_a_connection_can_be_used_again_after_a_stream(serve: Any) -> None:
    core = Core(Store(MemoryBackend(), VirtualClock()), timeout_seconds=0.01)
    served = serve(core.handle, core.store)
    connection = served.connect()
    for _ in range(2):
        connection.request("GET", "/watch")
        assert connection.getresponse().read() == b""


def test_a_client_that_leaves_is_forgotten(serve: Any, core: Core) -> None:
    served = serve(core.handle, core.store)
    connection = served.connect()
    connection.request("GET", "/watch")
    response = connection.getresponse()
    response.close()
    connection.close()

    while not core.watches[0].closed:
        served.on_its_thread(lambda: None)
    served.ask("POST", "/a", b"")


def test_stopping_the_server_ends_streams_properly(serve: Any, core: Core) -> None:
    write(core.store, "a")
    served = serve(core.handle, core.store)
    watch = served.watch()
    assert watch.readline() == b"2\n"
    served.stop()

    assert watch.read() == b"", "a proper last chunk, not a cut connection"


def test_many_watchers_get_the_same_in_the_same_order(serve: Any, core: Core) -> None:
    served = serve(core.handle, core.store)
    watches = [served.watch() for _ in range(10)]
    for number in range(20):
        served.ask("POST", f"/{number}", b"")
    served.ask("POST", "/last", b"")

    want = b"".join(b"%d\n" % revision for revision in range(2, 23))
    assert {watch.read() for watch in watches} == {want}


class HeldDisk(SqliteBackend):
    """Commits when it is let."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.allowed = threading.Event()
        self.breaks = False

    def commit(self, versions: Sequence[Version]) -> None:
        self.allowed.wait(10)
        if self.breaks:
            raise OSError(28, "No space left on device")
        super().commit(versions)


def test_a_change_is_not_told_before_it_is_durable(serve: Any, tmp_path: Path) -> None:
    disk = HeldDisk(tmp_path / "state.db")
    core = Core(Store(disk, VirtualClock()))
    served = serve(core.handle, core.store)
    watch = served.watch()
    with ThreadPoolExecutor(1) as reader:
        line = reader.submit(watch.readline)
        served.on_its_thread(lambda: write(core.store, "a"))
        for _ in range(20):
            served.on_its_thread(lambda: None)
        assert not line.done()
        disk.allowed.set()
        assert line.result(10) == b"2\n"


def test_a_stream_ends_without_telling_what_the_disk_has_lost(serve: Any, tmp_path: Path) -> None:
    disk = HeldDisk(tmp_path / "state.db")
    core = Core(Store(disk, VirtualClock()))
    served = serve(core.handle, core.store)
    watch = served.watch()
    disk.breaks = True
    served.on_its_thread(lambda: write(core.store, "a"))
    disk.allowed.set()

    assert watch.read() == b""


def test_a_watcher_that_reads_too_slowly_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_MOST_BEHIND_BYTES", 10)
    sent: list[dict[str, Any]] = []

    async def run() -> None:
        store = Store(MemoryBackend(), VirtualClock())
        watch = Watch(store)
        pump = Pump(watch, store, Gate(store, asyncio.get_running_loop()))
        released = asyncio.Event()

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)
            if message.get("body"):
                await released.wait()

        async def receive() -> dict[str, Any]:
            await asyncio.get_running_loop().create_future()
            return {}

        running = asyncio.create_task(pump.run([], receive, send))
        for number in range(20):
            await asyncio.sleep(0)
            write(store, str(number))
        released.set()
        await running
        assert watch.closed == 1

    asyncio.run(run())

    bodies = [message["body"] for message in sent if message["type"] == "http.response.body"]
    assert bodies[-1] == b""
    assert b"".join(bodies).startswith(b"2\n")
    assert len(b"".join(bodies)) < 20


def test_a_quiet_watch_gets_bookmarks(
    serve: Any, core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_BOOKMARK_SECONDS", 0.005)
    watch = serve(core.handle, core.store).watch()

    assert watch.readline() == b"up to 1\n"
    assert watch.readline() == b"up to 1\n"


@pytest.mark.parametrize("sizes", [[10, 20, 30], [300_000], [10, 300_000, 10], [65_536, 1]])
def test_frames_are_sent_whole_but_never_much_at_once(sizes: list[int]) -> None:
    store = Store(MemoryBackend(), VirtualClock())
    sent: list[bytes] = []

    class Sized(Watch):
        def open(self, deliver: Callable[[Frame], None]) -> None:
            for index, size in enumerate(sizes):
                deliver(Frame(0, b"%d" % index * size, last=index + 1 == len(sizes)))

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(bytes(message.get("body", b"")))

    async def run() -> None:
        gate = Gate(store, asyncio.get_running_loop())
        await Pump(Sized(store), store, gate).run([], receive, send)

    asyncio.run(run())

    assert b"".join(sent) == b"".join(b"%d" % index * size for index, size in enumerate(sizes))
    assert max(map(len, sent)) <= 64 * 1024
