"""The backend on SQLite: every version is a row, one transaction a turn, synced before it counts.

A row knows the revision of the state before it, so "what existed at revision R" is: rows up to R
that are not DELETED and that no row up to R follows. WAL with ``synchronous=FULL`` syncs once a
transaction. A batch goes in by few statements of many rows each: a statement is one call into C
without the interpreter's lock, and two threads do not fight for it row by row.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from windtunnel.errors import ClusterError, DataError
from windtunnel.machinery.tree import Key
from windtunnel.store.backend import Loaded
from windtunnel.store.memory import FIRST_REVISION
from windtunnel.store.version import Version, VersionType

_APPLICATION_ID: Final = 0x57544E4C
"""``WTNL``: how our databases are told from others'."""
_FORMAT: Final = 1
_MAGIC: Final = b"SQLite format 3\x00"

_SCHEMA: Final = f"""
CREATE TABLE versions (
    revision INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    created INTEGER NOT NULL,
    type INTEGER NOT NULL,
    resource TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    columns BLOB NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX follower ON versions (previous) WHERE previous > 0;
CREATE TABLE compaction (revision INTEGER NOT NULL) STRICT;
INSERT INTO compaction VALUES ({FIRST_REVISION});
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_FORMAT};
"""
_COLUMNS: Final = "revision, previous, created, type, resource, namespace, name, uid, columns, body"
_ROW_SIZE: Final = 10
_STATEMENT_ROWS: Final = 64
"""Most rows of one statement; each size is prepared once and kept."""
_STATE: Final = f"""
SELECT {_COLUMNS} FROM versions AS v
WHERE revision <= :revision AND type <> 2 AND (:resource = '' OR resource = :resource)
  AND NOT EXISTS (SELECT 1 FROM versions AS f WHERE f.previous = v.revision AND f.previous > 0
                  AND f.revision <= :revision)
"""
_SINCE: Final = f"""
SELECT {", ".join("v." + name.strip() for name in _COLUMNS.split(","))},
       {", ".join("p." + name.strip() for name in _COLUMNS.split(","))}
FROM versions AS v LEFT JOIN versions AS p ON p.revision = v.previous AND v.previous > 0
WHERE v.revision > :after AND v.revision <= :until AND v.resource = :resource
ORDER BY v.revision
"""
_COMPACT_STEP: Final = 2_000
"""Revisions forgotten in one transaction, so that writers never wait long for the committer."""

_TYPES: Final[tuple[VersionType, ...]] = ("ADDED", "MODIFIED", "DELETED")
_TYPE_NUMBERS: Final = {name: number for number, name in enumerate(_TYPES)}


class _Columns(msgspec.Struct, array_like=True):
    labels: dict[str, str]
    fields: dict[str, str]


_decode_columns = msgspec.json.Decoder(_Columns).decode
_encode = msgspec.json.encode


class SqliteBackend:
    """Keeps versions in one database file, locked against other processes."""

    keeps_history: ClassVar[bool] = True

    def __init__(self, path: Path) -> None:
        """Open the database, or make it where there is none.

        Raises:
            ClusterError: another process has it open.
            DataError: the file cannot be opened, is damaged, foreign or of another version.
        """
        self._path = path
        self._lock = _lock(path.with_name(path.name + ".lock"))
        try:
            with self._explained():
                _refuse_foreign(path)
                self._writer = self._connect()
                self._prepare()
                self._reader = self._connect()
        except BaseException:
            os.close(self._lock)
            raise

    def load(self) -> Loaded:
        """Return the state that was durable last.

        Raises:
            DataError: the database is damaged.
        """
        try:
            with self._explained():
                (verdict,) = self._reader.execute("PRAGMA quick_check(1)").fetchone()
                compaction = self._reader.execute("SELECT revision FROM compaction").fetchone()
                if verdict != "ok":
                    raise sqlite3.DatabaseError(" ".join(verdict.split()))
                if compaction is None:
                    raise sqlite3.DatabaseError("the mark of compaction is missing")
                (last,) = self._reader.execute("SELECT max(revision) FROM versions").fetchone()
                compacted: int = compaction[0]
                revision = max(last or 0, compacted)
                return Loaded(revision, compacted, self.at("", revision))
        except DataError:
            self.close()
            raise

    def commit(self, versions: Sequence[Version]) -> None:
        """Write all versions in one transaction; when this returns, they are synced."""
        execute = self._writer.execute
        if len(versions) <= _STATEMENT_ROWS:
            # A statement outside BEGIN is a transaction: one call, one wait for the lock.
            execute(_insert(len(versions)), _values(versions))
            return
        execute("BEGIN IMMEDIATE")
        try:
            for start in range(0, len(versions), _STATEMENT_ROWS):
                rows = versions[start : start + _STATEMENT_ROWS]
                execute(_insert(len(rows)), _values(rows))
            execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:
                execute("ROLLBACK")
            raise

    def compact(self, revision: int) -> None:
        """Forget versions up to ``revision`` that are not the state at ``revision``."""
        (start,) = self._writer.execute("SELECT revision FROM compaction").fetchone()
        while start < revision:
            end = min(start + _COMPACT_STEP, revision)
            with self._writer:
                span = {"start": start, "end": end}
                self._writer.execute("UPDATE compaction SET revision = :end", span)
                self._writer.execute(
                    "DELETE FROM versions WHERE revision IN (SELECT previous FROM versions"
                    " WHERE revision > :start AND revision <= :end AND previous > 0)",
                    span,
                )
                self._writer.execute(
                    "DELETE FROM versions WHERE revision > :start AND revision <= :end"
                    " AND type = 2",
                    span,
                )
            start = end

    def since(self, resource: str, after: int, until: int) -> list[Version]:
        """Return the resource's versions in ``(after, until]``, oldest first, with ``previous``."""
        with self._explained():
            rows = self._reader.execute(
                _SINCE, {"resource": resource, "after": after, "until": until}
            )
            return [
                _version(
                    row[:_ROW_SIZE],
                    None if row[_ROW_SIZE] is None else _version(row[_ROW_SIZE:], None),
                )
                for row in rows
            ]

    def at(self, resource: str, revision: int) -> list[Version]:
        """Return the objects of a resource ("" is all) as of ``revision``."""
        with self._explained():
            rows = self._reader.execute(_STATE, {"resource": resource, "revision": revision})
            return [_version(row, None) for row in rows]

    def close(self) -> None:
        """Close the database and let others have it."""
        self._reader.close()
        self._writer.close()
        os.close(self._lock)

    def _connect(self) -> sqlite3.Connection:
        # The writer is made on the owner's thread and used on the committer's, one after the other.
        connection = sqlite3.connect(
            self._path,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=2 * _STATEMENT_ROWS,
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -4096")
        return connection

    def _prepare(self) -> None:
        """Make an empty file ours, refuse one that is not; nothing is written to a refused file."""
        (tables,) = self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (application,) = self._writer.execute("PRAGMA application_id").fetchone()
        (version,) = self._writer.execute("PRAGMA user_version").fetchone()
        is_new = not tables and not application
        if not is_new and application != _APPLICATION_ID:
            raise DataError(
                f"{self._path} is a database of another program;"
                " choose another data folder or move the file away"
            )
        if not is_new and version != _FORMAT:
            raise DataError(
                f"{self._path} is of format {version}, this version of windtunnel reads format"
                f" {_FORMAT}; use the version that wrote it or move the file away"
            )
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.execute("PRAGMA wal_autocheckpoint = 4000")
        self._writer.execute("PRAGMA journal_size_limit = 33554432")
        if is_new:
            self._path.chmod(0o600)
            self._writer.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what SQLite says about a bad file into one sentence for the user."""
        try:
            yield
        except OSError as error:
            raise DataError(f"cannot use {self._path}: {error.strerror}") from error
        except (sqlite3.DatabaseError, msgspec.DecodeError) as error:
            # Text that is none is told like a failed operation, but the file is what is wrong.
            if isinstance(error, sqlite3.OperationalError) and "decode" not in str(error):
                raise DataError(f"cannot use {self._path}: {error}") from error
            raise DataError(
                f"{self._path} is damaged ({error}); restore it from a copy or move it away"
            ) from error


def _lock(path: Path) -> int:
    """Take the lock file, or say who has it; the lock ends with the process, however it ends."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DataError(f"cannot use {path}: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(lock, 32).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise ClusterError(
            f"{path.parent} is in use by process {owner}; two servers cannot share a data folder"
        ) from error
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _refuse_foreign(path: Path) -> None:
    """Judge a file by its first bytes, before SQLite may write to it."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise DataError(
                f"{path} is not a windtunnel database, or its beginning is damaged;"
                " choose another data folder or move the file away"
            )


@cache
def _insert(rows: int) -> str:
    places = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * rows)
    return f"INSERT INTO versions ({_COLUMNS}) VALUES {places}"


def _values(versions: Sequence[Version]) -> list[Any]:
    values: list[Any] = []
    for version in versions:
        values += (
            version.revision,
            0 if version.previous is None else version.previous.revision,
            version.created,
            _TYPE_NUMBERS[version.type],
            version.resource,
            version.key.namespace,
            version.key.name,
            version.uid,
            _encode(_Columns(version.labels, version.fields)),
            version.body,
        )
    return values


def _version(row: tuple[Any, ...], previous: Version | None) -> Version:
    revision, _, created, type_number, resource, namespace, name, uid, columns, body = row
    known = _decode_columns(columns)
    return Version(
        sys.intern(resource), Key(namespace, name), revision, _TYPES[type_number], body, uid,
        known.labels, known.fields, created, previous,
    )  # fmt: skip
