"""Durability: the mark follows the disk, and a failing disk stops everything."""

from __future__ import annotations

import asyncio
import resource
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key
from windtunnel.store import CommitFailed, Store, Version
from windtunnel.store.sqlite import SqliteBackend


class SlowDisk(SqliteBackend):
    """Commits only when it is let."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.allowed = threading.Event()
        self.batches: list[int] = []

    def commit(self, versions: Sequence[Version]) -> None:
        self.allowed.wait(10)
        super().commit(versions)
        self.batches.append(len(versions))


class FailingDisk(SqliteBackend):
    """Fails its n-th commit, before or after writing."""

    def __init__(self, path: Path, fail_at: int, *, after_writing: bool = False) -> None:
        super().__init__(path)
        self.left = fail_at
        self.after_writing = after_writing

    def commit(self, versions: Sequence[Version]) -> None:
        self.left -= 1
        if self.left == 0 and not self.after_writing:
            raise OSError(28, "No space left on device")
        super().commit(versions)
        if self.left == 0:
            raise OSError(5, "Input/output error")


def put(store: Store, name: str) -> Version:
    return store.put(
        "pods", Key("ns", name), body=lambda revision: b'{"metadata":{}}', expected=None,
        uid="", labels={}, fields={},
    )  # fmt: skip


def test_the_mark_waits_for_the_disk(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path / "state.db")
    store = Store(disk, VirtualClock())
    put(store, "a")

    assert (store.revision, store.durable) == (2, 1)
    disk.allowed.set()
    store.flush()
    assert store.durable == 2
    store.close()


def test_what_comes_in_during_a_commit_shares_the_next_one(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path / "state.db")
    store = Store(disk, VirtualClock())
    for number in range(50):
        put(store, f"p{number}")
    disk.allowed.set()
    store.flush()

    assert sum(disk.batches) == 50
    assert len(disk.batches) <= 2
    store.close()


def test_the_owner_is_told_through_its_own_thread(tmp_path: Path) -> None:
    store = Store(SqliteBackend(tmp_path / "state.db"), VirtualClock())
    posted: list[Callable[[], None]] = []
    marks: list[int] = []
    store.on_durable(lambda: marks.append(store.durable), posted.append)

    put(store, "a")
    store.flush()
    store.close()
    for callback in posted:
        callback()

    assert marks == [2]


def test_an_owner_whose_loop_has_ended_is_no_failure_of_the_disk(tmp_path: Path) -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    store = Store(SqliteBackend(tmp_path / "state.db"), VirtualClock())
    store.on_durable(lambda: None, loop.call_soon_threadsafe)
    put(store, "a")

    store.close()

    assert store.failure is None
    assert store.durable == 2


@pytest.mark.parametrize("after_writing", [False, True])
def test_whichever_commit_fails_nothing_acknowledged_is_lost(
    tmp_path: Path, after_writing: bool
) -> None:
    fail_at, failed = 0, True
    while failed:
        fail_at += 1
        path = tmp_path / f"{fail_at}.db"
        store = Store(FailingDisk(path, fail_at, after_writing=after_writing), VirtualClock())
        acknowledged, failed = write_until_failure(store)
        store.check()

        again = Store(SqliteBackend(path), VirtualClock())
        again.check()
        assert again.revision >= acknowledged
        kept = [version.revision for version in again.since("pods", 1)]
        assert kept == list(range(2, again.revision + 1)), "a prefix of history, without gap"
        again.close()
    assert fail_at > 6


def write_until_failure(store: Store) -> tuple[int, bool]:
    """Write and wait like a client does; return what was acknowledged and whether it failed."""
    acknowledged = store.revision
    try:
        for number in range(6):
            put(store, f"p{number % 3}")
            store.flush()
            acknowledged = store.revision
        store.close()
    except CommitFailed:
        with pytest.raises(CommitFailed):
            store.close()
        return acknowledged, True
    return acknowledged, False


def test_wherever_the_disk_is_full_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    room, failed, failures = 30_000, True, 0
    while failed:
        path = tmp_path / f"{room}.db"
        store = Store(SqliteBackend(path), VirtualClock())
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            acknowledged, failed = write_until_failure(store)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        store.check()

        again = Store(SqliteBackend(path), VirtualClock())
        again.check()
        assert again.revision >= acknowledged
        kept = [version.revision for version in again.since("pods", 1)]
        assert kept == list(range(2, again.revision + 1))
        again.close()
        room += 1_500
        failures += failed
    assert failures > 10


def test_after_a_failure_nothing_more_is_written_and_the_mark_stands(tmp_path: Path) -> None:
    store = Store(FailingDisk(tmp_path / "state.db", 2), VirtualClock())
    posted: list[Callable[[], None]] = []
    put(store, "a")
    store.flush()
    store.on_durable(lambda: None, posted.append)
    put(store, "b")

    with pytest.raises(CommitFailed, match=r"could not be written to disk .*No space left"):
        store.flush()
    with pytest.raises(CommitFailed):
        put(store, "c")
    assert store.durable == 2
    assert isinstance(store.failure, CommitFailed)
    assert len(posted) == 1
    with pytest.raises(CommitFailed):
        store.close()


def test_a_failed_body_leaves_no_trace(tmp_path: Path) -> None:
    fail_at = 0
    failed = True
    while failed:
        fail_at += 1
        store = Store(SqliteBackend(tmp_path / f"{fail_at}.db"), VirtualClock())
        failed = write_with_failing_body(store, fail_at)
        store.check()
        assert [v.revision for v in store.since("pods", 1)] == list(range(2, store.revision + 1))
        store.close()
    assert fail_at == 9


def write_with_failing_body(store: Store, fail_at: int) -> bool:
    calls = 0

    def body(revision: int) -> bytes:
        nonlocal calls
        calls += 1
        if calls == fail_at:
            raise ValueError("the object cannot be encoded")
        return b"{}"

    failed = False
    for number in range(4):
        key = Key("ns", f"p{number}")
        for write in (
            lambda key=key: store.put(
                "pods", key, body=body, expected=None, uid="", labels={}, fields={}
            ),
            lambda key=key: store.remove("pods", key, expected=None, body=body),
        ):
            try:
                write()
            except ValueError:
                failed = True
                if store.get("pods", key) is None:
                    break
    return failed
