"""Load that follows requests: how many a pod serves a second, asked of Prometheus.

Asking may take seconds, so a thread asks for all pods in turn and hands the answers to the loop;
what is exported is the last answer, 0 before there is one. A Prometheus that cannot be reached is
not asked again in the same round.

Source: fake-gpu-operator 0.2, whose query adds one to the rate: an idle pod shows 1.
"""

from __future__ import annotations

import http.client
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Final

from windtunnel.kernel import Loop

_PATIENCE_SECONDS: Final = 5.0
_QUERY: Final = (
    '(rate(revision_app_request_count[1m]) + on(pod) group_left(uid) kube_pod_info{{uid="{uid}"}})'
)

LoadOf = Callable[[str], int]
"""From a pod's uid to its load; OSError where nobody answers, ValueError for nonsense."""


def asker(url: str) -> LoadOf:
    """Return what asks the Prometheus at ``url``."""

    def ask(uid: str) -> int:
        query = urllib.parse.urlencode({"query": _QUERY.format(uid=uid)})
        address = f"{url.rstrip('/')}/api/v1/query?{query}"
        try:
            with urllib.request.urlopen(address, timeout=_PATIENCE_SECONDS) as answer:
                return _value(json.load(answer))
        except urllib.error.HTTPError as error:
            raise ValueError(f"Prometheus answered {error.code}") from error
        except http.client.HTTPException as error:  # neither of the two that a round knows
            raise ValueError(f"{url} is no Prometheus: {error}") from error

    return ask


def _value(answer: object) -> int:
    """Return the first value of an answer, cut; 0 where it has none."""
    try:
        return int(float(answer["data"]["result"][0]["value"][1]))  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return 0


class Demand:
    """The last known load of each pod that follows requests.

    Args:
        loop: Where answers are handed over.
        ask: How one pod's load is asked for; called on a thread.
        changed: Told, in a step, when answers are there.
    """

    name: Final = "demand"

    def __init__(self, loop: Loop, ask: LoadOf, changed: Callable[[], None]) -> None:
        self._loop, self._ask, self._changed = loop, ask, changed
        self._known: dict[str, int] = {}
        self._asking = False

    def load(self, uid: str) -> int:
        """Return the last known load of a pod."""
        return self._known.get(uid, 0)

    def knows(self, uid: str) -> bool:
        """Say whether this pod was asked for in the last round."""
        return uid in self._known

    def refresh(self, uids: set[str]) -> None:
        """Ask for these pods, unless somebody is asking already; forget all others."""
        if not uids:
            self._known.clear()
        elif not self._asking:
            self._asking = True
            threading.Thread(target=self._round, args=(sorted(uids),), daemon=True).start()

    def _round(self, uids: list[str]) -> None:
        found = dict.fromkeys(uids, 0)
        problem: Exception | None = None
        for uid in uids:
            try:
                found[uid] = self._ask(uid)
            except ValueError as error:
                problem = error
            except OSError as error:
                problem = error
                break
        self._loop.post(lambda: self._take(found, problem))

    def _take(self, found: dict[str, int], problem: Exception | None) -> None:
        self._asking = False
        self._known = found
        if problem is not None:
            self._loop.report(self.name, "prometheus", problem)
        self._changed()
