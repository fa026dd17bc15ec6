"""The folder of a durable cluster's data, which need not be inside its state folder.

It carries a marker with its format, so that neither a stranger's folder nor one of another version
is ever written to, and a lock of its own: two clusters cannot share it.
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


def open_storage(path: Path, cluster: str) -> Lock:
    """Take a data folder for this process; a missing or empty one becomes ours.

    Raises:
        DataError: the folder is foreign, of another version, unreadable, or in use.
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
            text = json.dumps({"format": FORMAT, "cluster": cluster}) + "\n"
            write_private(marker, text.encode())
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
            f"data folder {path} has format {version}, this version reads {FORMAT}; "
            "use the version that made it"
        )
    lock = Lock(path / "lock")
    if not lock.take():
        raise DataError(f"data folder {path} is in use by another cluster")
    return lock
