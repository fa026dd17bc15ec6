"""A watch loses nothing and repeats nothing, whatever becomes of its connection."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from windtunnel.client import httpwatch
from windtunnel.client.http import HttpClient
from windtunnel.client.httpwatch import HttpWatch
from windtunnel.client.protocol import Change
from windtunnel.kernel import Loop, WallClock
from windtunnel.machinery.tree import Key, Tree

PATIENCE_SECONDS = 20.0


def config(namespace: str, name: str, value: str = "") -> Tree:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": value}}


class Line:
    """Connections that can be cut, and refused while cut."""

    def __init__(self, client: HttpClient, *, cut: bool = False) -> None:
        self._dial, self._open = client._transport.dial, not cut
        self._wires: list[http.client.HTTPConnection] = []
        self.tried = threading.Semaphore(0)

    def dial(self, timeout_seconds: float) -> http.client.HTTPConnection:
        self.tried.release()
        if not self._open:
            raise ConnectionRefusedError
        wire = self._dial(timeout_seconds)
        self._wires.append(wire)
        return wire

    def cut(self) -> None:
        self._open = False
        for wire in self._wires:
            with suppress(OSError, AttributeError):
                wire.sock.shutdown(2)

    def mend(self) -> None:
        self._open = True


class Watching:
    """A watch, the line it hangs on, and what it has delivered."""

    def __init__(self, client: HttpClient, namespace: str, *, cut: bool = False) -> None:
        self._loop = Loop(WallClock())
        self._woken = threading.Event()
        self._loop.wake = self._woken.set
        self.line = Line(client, cut=cut)
        self.changes: list[Change] = []
        path = client.path("configmaps", Key(namespace, ""))
        self._watch = HttpWatch(
            self.line.dial, client._headers, path, {}, self.changes.append, self._loop
        )
        self._watch.start()

    def until(self, true: Callable[[list[Change]], bool]) -> list[tuple[str, str]]:
        """Play the loop until the changes so far are as wanted; return them in short."""
        while True:
            self._loop.run_due()
            if true(self.changes):
                return [(change.type, change.key.name) for change in self.changes]
            assert self._woken.wait(PATIENCE_SECONDS), self.changes
            self._woken.clear()

    def stop(self) -> None:
        self._watch.stop()


@pytest.fixture
def watching(
    http_client: HttpClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Watching]:
    monkeypatch.setattr(httpwatch, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(httpwatch, "LONGEST_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(httpwatch, "PAGE", 2)
    for name in ("a", "b", "c"):
        http_client.create("configmaps", config(namespace, name))
    watching = Watching(http_client, namespace)
    yield watching
    watching.stop()


START = [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c"), ("SYNCED", "")]


def count(number: int) -> Callable[[list[Change]], bool]:
    return lambda changes: len(changes) >= number


def test_what_exists_comes_first_then_synced_then_every_change(
    watching: Watching, http_client: HttpClient, namespace: str
) -> None:
    assert watching.until(count(4)) == START
    assert watching.changes[0].tree()["kind"] == "ConfigMap"

    http_client.create("configmaps", config(namespace, "d"))
    http_client.update("configmaps", config(namespace, "a", "changed"))
    http_client.delete("configmaps", Key(namespace, "b"))

    assert watching.until(count(7)) == [
        *START,
        ("ADDED", "d"),
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]
    assert watching.changes[6].tree()["data"] == {"v": ""}
    revisions = [change.revision for change in watching.changes[4:]]
    assert revisions == sorted(revisions)


def test_a_cut_line_is_taken_up_again_where_it_broke(
    watching: Watching, http_client: HttpClient, namespace: str
) -> None:
    watching.until(count(4))

    watching.line.cut()
    http_client.update("configmaps", config(namespace, "a", "1"))
    http_client.delete("configmaps", Key(namespace, "b"))
    watching.line.mend()

    assert watching.until(count(6)) == [*START, ("MODIFIED", "a"), ("DELETED", "b")]


def test_when_history_is_gone_everything_is_listed_and_the_vanished_are_deleted(
    watching: Watching, http_client: HttpClient, namespace: str
) -> None:
    watching.until(count(4))

    watching.line.cut()
    http_client.update("configmaps", config(namespace, "a", "1"))
    http_client.delete("configmaps", Key(namespace, "b"))
    http_client.create("configmaps", config(namespace, "d"))
    status, _ = http_client.ask("POST", "/windtunnel/compact")
    assert status == 200
    watching.line.mend()

    assert watching.until(count(7))[4:] == [
        ("MODIFIED", "a"),
        ("ADDED", "d"),
        ("DELETED", "b"),
    ]
    assert watching.changes[6].tree()["metadata"]["name"] == "b"


def test_after_a_stop_nothing_is_delivered(
    watching: Watching, http_client: HttpClient, namespace: str
) -> None:
    watching.until(count(4))
    watching.stop()

    http_client.create("configmaps", config(namespace, "d"))
    watching._watch._thread.join(PATIENCE_SECONDS)
    watching._loop.run_due()

    assert len(watching.changes) == 4


def test_a_server_that_is_away_at_first_is_waited_for(
    http_client: HttpClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(httpwatch, "FIRST_PAUSE_SECONDS", 0.01)
    http_client.path("configmaps", Key(namespace, ""))
    watching = Watching(http_client, namespace, cut=True)
    for _ in range(2):
        assert watching.line.tried.acquire(timeout=PATIENCE_SECONDS)
    watching.line.mend()

    assert watching.until(count(1)) == [("SYNCED", "")]
    watching.stop()
