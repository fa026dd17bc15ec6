"""The documents of pools in the API: the pools they describe, and what is wrong with them.

Whoever writes one is told by Events on it: that it cannot be read, which pool cannot be, and that
no node is of any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from windtunnel.client import Change, Client
from windtunnel.client.events import LONGEST_WORDS, Recorder, Subject
from windtunnel.devices import TOPOLOGY_KEY
from windtunnel.errors import DataError
from windtunnel.gpu.pools import Pools
from windtunnel.gpu.status_updater.settings import Settings
from windtunnel.machinery.tree import Key, dig


class PoolDocuments:
    """All documents of pools, kept by the changes of ConfigMaps."""

    def __init__(self, client: Client, events: Recorder, settings: Settings) -> None:
        self._client, self._events = client, events
        self._name, self._namespace = settings.topology_name, settings.topology_namespace
        self.pools = Pools(self._name)
        self._uid = ""
        """Of the document of the cluster, as it was at the start."""

    def read_cluster(self) -> None:
        """Read the document of the cluster; one that cannot be read is waited for.

        Raises:
            DataError: there is none.
        """
        tree = self._client.get("configmaps", Key(self._namespace, self._name))
        if tree is None:
            raise DataError(
                "failed to get cluster topology: failed to get topology configmap: "
                f'configmaps "{self._name}" not found'
            )
        if TOPOLOGY_KEY not in (tree.get("data") or {}):
            raise DataError(
                f'failed to get cluster topology: topology configmap missing key "{TOPOLOGY_KEY}"'
            )
        self._uid = str(tree["metadata"].get("uid", ""))
        with suppress(ValueError):  # an Event tells of it when the watch brings it
            self.pools.take(self._name, tree)

    def take(self, change: Change) -> bool:
        """Take in a change of a ConfigMap; say whether it may have changed pools."""
        name = change.key.name
        if not self.pools.concerns(name):
            return False
        tree = None if change.type == "DELETED" else change.tree()
        subject = Subject(
            "ConfigMap", name, change.key.namespace, str(dig(tree, "metadata", "uid") or "")
        )
        try:
            self.pools.take(name, tree)
        except ValueError as error:
            words = f"cannot be read, what it said before holds: {error}"
            self._events.warning(subject, "BrokenTopology", words)
        else:
            if tree is not None:
                self._tell_flaws(name, subject)
        return True

    def _tell_flaws(self, name: str, subject: Subject) -> None:
        """Say which pools of a ConfigMap cannot be read, whether a node is in them or not."""
        if not self.pools.cluster.label_key:
            words = "nodePoolLabelKey is not set: nobody knows which nodes are of a pool"
            self._events.warning(subject, "BrokenTopology", words)
        for flaw in self.pools.flaws(name):
            self._events.warning(subject, "BrokenPool", flaw[:LONGEST_WORDS])

    def tell_if_unused(self, nodes: Iterable[Mapping[str, str]]) -> None:
        """Say what is missing where no node is of these pools: the first thing to go wrong.

        Args:
            nodes: The labels of every node.
        """
        cluster = self.pools.cluster
        if not cluster.label_key or any(cluster.label_key in labels for labels in nodes):
            return
        pools = list(cluster.pools or ())
        pool = "default" if "default" in pools else next(iter(pools), "POOL")
        self._events.warning(
            Subject("ConfigMap", self._name, self._namespace, self._uid),
            "NoNodes",
            f"0 nodes carry the pool label {cluster.label_key}, so its pools give no GPUs; give "
            f"some to a node: kubectl label node NODE {cluster.label_key}={pool}",
        )
