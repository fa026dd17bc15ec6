"""Which kubectl of this machine is run: one rule for whoever runs it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from windtunnel.errors import UsageError


def find_kubectl() -> str:
    """Return the kubectl to run: ``$KUBECTL``, or the one on PATH.

    Raises:
        UsageError: there is none.
    """
    chosen = os.environ.get("KUBECTL") or "kubectl"
    found = shutil.which(chosen)
    if found is None:
        where = f"$KUBECTL names {chosen}, which is no program" if "KUBECTL" in os.environ else (
            "there is no kubectl on PATH; install one or name it in $KUBECTL"
        )  # fmt: skip
        raise UsageError(where)
    return str(Path(found))
