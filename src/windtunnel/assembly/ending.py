"""Why a cluster stops by itself, in one sentence: what is damaged, or which part met a bug.

A bug in a part must lock nobody out of the data, so the sentence names the object and the way to
start the cluster without the part; the whole story is in the log.
"""

from __future__ import annotations

import traceback
from typing import Final

import msgspec

from windtunnel.errors import ClusterError, DataError, WindtunnelError
from windtunnel.store import Store

_PARTS: Final = {
    "windtunnel.scheduler.": ("scheduler", "--without scheduler"),
    "windtunnel.controllers.": ("controllers", "--without controllers"),
    "windtunnel.nodes.played.": ("played nodes", "--without nodes"),
    "windtunnel.gpu.kwok_device_plugin.": ("GPUs of played nodes", "--without nodes"),
    "windtunnel.gpu.chart.": ("installation of the operator", "--no-operator"),
}
"""Which modules are whose, what users call the part, and what leaves it out."""


def explained(error: Exception, store: Store) -> Exception:
    """Return the error as a sentence for the user, or as it is where nothing better is known."""
    if isinstance(error, msgspec.DecodeError):
        # Only what the store holds is read without a refusal for what cannot be read.
        return DataError(f"the cluster stops: {_damaged_object(store)} is damaged ({error})")
    if isinstance(error, WindtunnelError):
        return error
    for module in reversed(_modules(error)):
        for prefix, (part, option) in _PARTS.items():
            if module.startswith(prefix):
                at = "".join(f" at {note}" for note in getattr(error, "__notes__", [])[:1])
                return ClusterError(
                    f"the cluster stops: its {part} met a bug{at} "
                    f"({type(error).__name__}: {error}); windtunnel up {option} starts it without"
                )
    return error


def _modules(error: Exception) -> list[str]:
    """Return where the error came through, the innermost module last."""
    return [
        f"{frame.f_globals.get('__name__', '')}."
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]


def _damaged_object(store: Store) -> str:
    """Name the first stored object that is no JSON; it may be gone meanwhile."""
    for resource in store.resources():
        for version in store.list(resource):
            try:
                version.tree()
            except msgspec.DecodeError:
                return f"the stored object {version.key} of {resource}"
    return "a stored object"
