"""The sort of workload a pod is of, where its PodGroup says it (Run:ai).

Looked up once for every pod that names one: a PodGroup may be read, not watched, by the rights that
the chart gives.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.errors import ClusterError
from windtunnel.gpu.status_updater.claimant import Claimant
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.tree import Key, dig

_POD_GROUPS: Final = "podgroups.scheduling.run.ai/v2alpha2"


class Workloads:
    """Looks up PodGroups, and remembers what they said of each pod."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, one: Claimant) -> str:
        """Return the sort of workload, or "" where nobody says."""
        if one.workload or not one.pod_group:
            return one.workload
        known = self._known.get(one.uid)
        if known is not None and known[0] == one.pod_group:
            return known[1]
        found = self._look_up(Key(one.key.namespace, one.pod_group))
        self._known[one.uid] = (one.pod_group, found)
        return found

    def forget(self, uid: str) -> None:
        """Look a pod up again when it is next asked for."""
        self._known.pop(uid, None)

    def _look_up(self, key: Key) -> str:
        try:
            group = self._client.get(_POD_GROUPS, key)
        except (ApiError, ClusterError):
            return ""  # a cluster without such a kind
        return str(dig(group, "spec", "priorityClassName") or "")
