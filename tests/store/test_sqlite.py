"""The database file: what is refused, what survives, what is never half written."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from windtunnel.errors import ClusterError, DataError
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key
from windtunnel.store import HistoryGone, Store
from windtunnel.store.sqlite import SqliteBackend


def open_store(path: Path, **settings: int) -> Store:
    return Store(SqliteBackend(path), VirtualClock(), **settings)


def put(store: Store, name: str, text: str = "") -> int:
    return store.put(
        "pods", Key("ns", name), body=lambda revision: f'"{revision}{text}"'.encode(),
        expected=None, uid=f"u-{name}", labels={"app": name}, fields={"f": text},
    ).revision  # fmt: skip


def filled(path: Path, writes: int = 5) -> None:
    store = open_store(path)
    for _ in range(writes):
        put(store, "a")
    store.close()


def foreign_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE books (title TEXT)")
    connection.close()


def other_format(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def broken_middle(path: Path) -> None:
    filled(path, 400)
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 12000)


def broken_columns(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE versions SET columns = x'00'")
    connection.close()


def broken_text(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE versions SET resource = CAST(x'ff' AS TEXT)")
    connection.close()


def missing_table(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM compaction")
    connection.close()


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a text file": (lambda path: path.write_text("hello, world, this is text"), "not a windtunnel"),
    "a damaged beginning": (
        lambda path: (filled(path), path.write_bytes(b"\x00" * 64 + path.read_bytes()[64:])),
        "beginning is damaged",
    ),
    "a database of another program": (foreign_database, "another program"),
    "another format": (other_format, "format 99"),
    "a damaged middle": (broken_middle, "is damaged"),
    "columns that cannot be read": (broken_columns, "is damaged"),
    "text that is none": (broken_text, "is damaged"),
    "no mark of compaction": (missing_table, "is damaged"),
    "no file": (lambda path: path.mkdir(), "cannot use "),
    "a cut file": (
        lambda path: (filled(path, 400), path.write_bytes(path.read_bytes()[:20_000])),
        "is damaged",
    ),
}


@pytest.mark.parametrize(("spoil", "says"), REFUSED.values(), ids=REFUSED)
def test_a_bad_file_is_refused_in_one_sentence_and_left_alone(
    spoil: Callable[[Path], object], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""

    with pytest.raises(DataError) as refusal:
        open_store(path)

    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_refused_file_is_not_kept_locked(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_text("hello, world, this is text")
    with pytest.raises(DataError):
        open_store(path)
    path.unlink()

    open_store(path).close()


def test_two_servers_cannot_share_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    first = open_store(path)

    with pytest.raises(ClusterError, match="in use by process"):
        SqliteBackend(path)

    first.close()
    open_store(path).close()


def test_the_lock_of_another_process_counts_and_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    program = (
        "import sys, pathlib; from windtunnel.store.sqlite import SqliteBackend;"
        "held = SqliteBackend(pathlib.Path(sys.argv[1])); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ClusterError, match=str(other.pid)):
            SqliteBackend(path)
        other.kill()
        other.wait()

    open_store(path).close()


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot use .*: No such file"):
        SqliteBackend(tmp_path / "nowhere" / "state.db")


def test_only_the_owner_may_read_the_state(tmp_path: Path) -> None:
    filled(tmp_path / "state.db")

    assert stat.S_IMODE((tmp_path / "state.db").stat().st_mode) == 0o600


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = open_store(path)
    put(store, "b", "x")
    put(store, "a", "y")
    store.remove("pods", Key("ns", "b"), expected=None, body=lambda _: b'"gone"')
    put(store, "a", "z")
    before = store.list("pods")
    store.close()

    again = open_store(path)

    assert [(v.key, v.revision, v.body, v.uid, v.labels, v.fields, v.created)
            for v in again.list("pods")] == [
        (v.key, v.revision, v.body, v.uid, v.labels, v.fields, v.created)
        for v in before
    ]  # fmt: skip
    assert again.revision == again.durable == 5
    assert put(again, "c") == 6
    again.check()
    again.close()


def test_watches_resume_after_a_restart_with_the_states_before(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = open_store(path)
    put(store, "a", "x")
    put(store, "a", "y")
    store.remove("pods", Key("ns", "a"), expected=None, body=lambda _: b'"gone"')
    store.close()

    again = open_store(path)
    put(again, "b")
    changes = again.since("pods", 2)

    assert [(v.type, v.revision, v.body) for v in changes] == [
        ("MODIFIED", 3, b'"3y"'),
        ("DELETED", 4, b'"gone"'),
        ("ADDED", 5, b'"5"'),
    ]
    assert [v.previous and v.previous.body for v in changes] == [b'"2x"', b'"3y"', None]
    again.close()


def test_compaction_is_remembered_and_keeps_the_state_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = open_store(path)
    for name in "abab":
        put(store, name)
    store.remove("pods", Key("ns", "a"), expected=None, body=lambda _: b'"gone"')
    put(store, "b")
    store.flush()
    store.compact(5)
    store.close()

    again = open_store(path)

    assert again.compacted == 5
    assert [v.revision for v in again.at("pods", 5)] == [4, 5]
    assert [v.type for v in again.since("pods", 5)] == ["DELETED", "MODIFIED"]
    with pytest.raises(HistoryGone):
        again.since("pods", 4)
    again.close()


def test_forgotten_versions_leave_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = open_store(path)
    for _ in range(100):
        put(store, "a")
    store.remove("pods", Key("ns", "a"), expected=None, body=lambda _: b'"gone"')
    put(store, "b")
    store.flush()
    store.compact(store.revision)
    store.close()

    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name, revision FROM versions").fetchall()
    connection.close()
    assert rows == [("b", 103)]


def test_history_past_its_time_is_forgotten_by_and_by(tmp_path: Path) -> None:
    clock = VirtualClock()
    store = Store(SqliteBackend(tmp_path / "state.db"), clock, keep_seconds=300)
    for minute in range(10):
        clock.move_to(60.0 * minute)
        for _ in range(256):
            put(store, "a")
        store.flush()

    # Written in minute 3 and before: more than 300 s ago in minute 9.
    assert 256 * 3 <= store.compacted <= 256 * 4
    assert len(store.since("pods", store.compacted)) == store.revision - store.compacted
    with pytest.raises(HistoryGone):
        store.since("pods", store.compacted - 1)
    store.check()
    store.close()


def test_large_batches_are_one_transaction(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    filled(path, 1000)

    store = open_store(path)

    assert store.revision == 1001
    assert len(store.since("pods", 1)) == 1000
    store.close()
