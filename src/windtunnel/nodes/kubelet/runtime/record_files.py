"""Records of containers on disk, so that what has run is known after the node was away.

No container outlives its node. One that ran when the node went is told as a runtime tells of
containers that it does not find again after a restart: it ended at an unknown code.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from windtunnel.nodes.kubelet.runtime.protocol import UNSEEN, ContainerRecord, ContainerState

_UNSEEN_CODE: Final = 255
_DRAFT: Final = ".new"
"""The ending of what is being written; where it is found later, its writer died over it."""


class RecordFiles:
    """One file for each container.

    Args:
        folder: Where they are; it is made when there is something to keep.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, record: ContainerRecord) -> None:
        """Write a record in the place of an older one of the same container."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / record.id
        new = file.with_suffix(_DRAFT)
        new.write_bytes(msgspec.json.encode(record, enc_hook=str))
        new.replace(file)

    def forget(self, container_id: str) -> None:
        """Remove a record."""
        (self._folder / container_id).unlink(missing_ok=True)

    def read(self, now: float) -> list[ContainerRecord]:
        """Return the containers that have run, in the order of their creation, all of them ended.

        One whose end nobody saw has ended at ``now``. What cannot be read is removed, and so are
        containers that were never started.
        """
        found = []
        for file in self._folder.glob("*") if self._folder.is_dir() else ():
            with suppress(OSError, msgspec.MsgspecError):
                record = msgspec.json.decode(
                    file.read_bytes(), type=ContainerRecord, dec_hook=_path
                )
                if record.state is not ContainerState.CREATED and file.suffix != _DRAFT:
                    found.append(_ended(record, now))
                    continue
            file.unlink(missing_ok=True)
        return sorted(found, key=lambda record: record.created_at)


def _ended(record: ContainerRecord, now: float) -> ContainerRecord:
    if record.state is ContainerState.EXITED:
        return record
    return replace(
        record,
        state=ContainerState.EXITED,
        exit_code=_UNSEEN_CODE,
        reason=UNSEEN,
        finished_at=now,
        pid=0,
    )


def _path(_: type, text: Any) -> Path:
    return Path(text)
