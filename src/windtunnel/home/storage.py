"""The folder of a durable cluster's data, which need not be inside its state folder.

It carries a marker with its format, so that neither a stranger's folder nor one of another version
is ever written to, and a lock of its own: two clusters cannot share it. The marker also says that
there was a first commit: from then on a database without content is damage, not a beginning.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from windtunnel.errors import DataError
from windtunnel.home.files import write_private
from windtunnel.home.lock import Lock

FORMAT: Final = 1
"""Version of the layout; a reader refuses every other."""
MARKER: Final = "windtunnel.json"
DATABASE: Final = "windtunnel.db"


class Storage:
    """A data folder that is held by this process."""

    def __init__(self, path: Path, lock: Lock, *, begun: bool) -> None:
        self.path, self.database = path, path / DATABASE
        self._lock, self._begun = lock, begun

    def check(self, *, empty: bool = False) -> None:
        """See that what was once committed is still there.

        Args:
            empty: Whether the database has been opened and holds nothing.

        Raises:
            DataError: it has lost everything.
        """
        if not self._begun:
            return
        try:
            gone = self.database.stat().st_size == 0
        except FileNotFoundError:
            gone = True
        if gone or empty:
            raise DataError(
                f"{self.database} is damaged: the cluster's objects are gone from it; put it back, "
                "with its -wal file if there was one, or choose another --data-dir"
            )

    def begin(self) -> None:
        """Note that there was a first commit."""
        if not self._begun:
            self._begun = True
            write_private(self.path / MARKER, _encoded(begun=True))

    def release(self) -> None:
        """Give the folder back."""
        self._lock.release()


def open_storage(path: Path) -> Storage:
    """Take a data folder for this process; a missing or empty one becomes ours.

    Raises:
        DataError: the folder is foreign, of another version, unreadable, damaged, or in use.
    """
    marker = path / MARKER
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = sorted(entry.name for entry in path.iterdir())
        if MARKER not in content:
            if set(content) - {"lock"}:
                raise DataError(
                    f"{path} is not a Windtunnel data folder (it holds {content[0]}); "
                    "choose an empty one"
                )
            write_private(marker, _encoded(begun=False))
        found = json.loads(marker.read_text())
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(f"data folder {path} is not a folder") from error
    except OSError as error:
        raise DataError(f"cannot use data folder {path}: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{marker} is damaged: it is not JSON") from error
    version = found.get("format") if isinstance(found, dict) else None
    if version != FORMAT:
        raise DataError(
            f"data folder {path} has format {json.dumps(version)}, this version reads {FORMAT}; "
            "use the version that made it"
        )
    lock = Lock(path / "lock")
    if not lock.take():
        raise DataError(
            f"data folder {path} is in use by another cluster; stop that one first, or choose "
            "another --data-dir"
        )
    storage = Storage(path, lock, begun=bool(found.get("begun")))
    try:
        storage.check()
    except DataError:
        storage.release()
        raise
    return storage


def _encoded(*, begun: bool) -> bytes:
    return json.dumps({"format": FORMAT, "begun": begun}).encode() + b"\n"
