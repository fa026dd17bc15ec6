"""Tokens of service accounts in volumes: asked for once, and again before they end.

Source: kubelet v1.36: a token is renewed when it has lived four fifths of its life, or a day.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from windtunnel.kernel import Clock
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.volumes.sources import VolumeSources

_DEFAULT_SECONDS: Final = 3600
_DAY_SECONDS: Final = 86400.0


@dataclass(frozen=True, slots=True)
class HeldToken:
    """A token, and from when on another is wanted."""

    text: str
    renewed_at: float


def renewal(now: float, expires: float) -> float:
    """Return when a token that was made now is to be replaced."""
    return now + min((expires - now) * 0.8, _DAY_SECONDS)


class VolumeTokens:
    """Tokens of the pods of one node. Safe to use from any thread."""

    def __init__(self, sources: VolumeSources, clock: Clock) -> None:
        self._sources, self._clock = sources, clock
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str, int], HeldToken] = {}

    def token(self, pod: Tree, source: Tree) -> str:
        """Return the token that a projected source asks for."""
        metadata = pod["metadata"]
        audience = str(source.get("audience") or "")
        seconds = int(source.get("expirationSeconds") or _DEFAULT_SECONDS)
        key = (str(metadata["uid"]), audience, seconds)
        now = self._clock.now()
        held = self._held.get(key)
        if held is not None and now < held.renewed_at:
            return held.text
        account = str(pod["spec"].get("serviceAccountName") or "default")
        status = self._sources.token(
            Key(metadata["namespace"], account),
            {
                "audiences": [audience] if audience else [],
                "expirationSeconds": seconds,
                "boundObjectRef": {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                },
            },
        )
        made = HeldToken(status["token"], renewal(now, parse_time(status["expirationTimestamp"])))
        with self._lock:
            self._held[key] = made
        return made.text

    def forget(self, pod_uids: Iterable[str]) -> None:
        """Forget the tokens of pods."""
        gone = set(pod_uids)
        with self._lock:
            self._held = {key: held for key, held in self._held.items() if key[0] not in gone}
