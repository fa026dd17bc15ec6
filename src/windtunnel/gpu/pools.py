"""The pools of the cluster as they stand: every document that describes some, and the profiles.

A document that cannot be read changes nothing: what it said before goes on. Where two name the same
pool, the ConfigMap of the pool goes before that of the cluster, for it is the more special.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import (
    PROFILE_KEY,
    ClusterTopology,
    DeclaredPool,
    GpuPool,
    GpuShape,
    NodeTopology,
    OtherDevice,
    TopologyGpu,
    gpu_id,
    load_yaml,
    parse_cluster_topology,
    profile_config_map_name,
    profile_of_config_map,
    resolve,
    topology_text,
)
from windtunnel.machinery.tree import Tree

_OF_POOLS: Final = "-pool-"


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the nodes of one pool are made of."""

    shape: GpuShape
    other_devices: tuple[OtherDevice, ...]
    mig_strategy: str

    def capacity(self) -> dict[str, str]:
        """Return the extended resources of one node, as a node's status writes them."""
        return self._pool().capacity()

    def labels(self) -> dict[str, str]:
        """Return the labels that GPU feature discovery gives to a node of them."""
        return self._pool().labels()

    def _pool(self) -> GpuPool:
        return GpuPool(
            gpu_product=self.shape.product,
            gpu_count=self.shape.count,
            gpu_memory=self.shape.memory_mib,
            other_devices=self.other_devices,
        )

    def fitted(self, node: str, before: NodeTopology | None) -> NodeTopology:
        """Return the document of a node of this pool; GPUs that it had stay what they are."""
        had = () if before is None else before.gpus
        return NodeTopology(
            gpu_memory=self.shape.memory_mib,
            gpu_product=self.shape.product,
            driver_version=self.shape.driver_version,
            cuda_version=self.shape.cuda_version,
            gpus=tuple(
                had[index] if index < len(had) else TopologyGpu(id=gpu_id(node, index))
                for index in range(self.shape.count)
            ),
            mig_strategy=self.mig_strategy,
            other_devices=self.other_devices,
        )


class Pools:
    """Which pools there are, from the ConfigMaps of one namespace."""

    def __init__(self, topology_name: str) -> None:
        self._name = topology_name
        self._documents: dict[str, ClusterTopology] = {}
        self._profiles: dict[str, Tree | ValueError] = {}

    @property
    def cluster(self) -> ClusterTopology:
        """The document of the cluster; an empty one where there is none."""
        return self._documents.get(self._name) or ClusterTopology()

    def concerns(self, config_map: str) -> bool:
        """Say whether a ConfigMap of this name may describe pools or a profile."""
        return (
            config_map == self._name
            or config_map.startswith(self._name + _OF_POOLS)
            or bool(profile_of_config_map(config_map))
        )

    def take(self, config_map: str, tree: Tree | None) -> None:
        """Take in a ConfigMap as it is now; None when it has gone.

        Raises:
            ValueError: it cannot be read; what it said before goes on.
        """
        profile = profile_of_config_map(config_map)
        if profile:
            self._take_profile(profile, tree)
        elif tree is not None:
            if not (config_map == self._name and self.cluster.compat):
                # The original reads its document once, when it starts.
                self._documents[config_map] = parse_cluster_topology(topology_text(tree))
        elif config_map != self._name:
            self._documents.pop(config_map, None)

    def _take_profile(self, profile: str, tree: Tree | None) -> None:
        if tree is None:
            self._profiles.pop(profile, None)
            return
        name = profile_config_map_name(profile)
        text = (tree.get("data") or {}).get(PROFILE_KEY)
        try:
            if text is None:
                raise ValueError(f'GPU profile ConfigMap "{name}" missing key "{PROFILE_KEY}"')
            found = load_yaml(text)
            if not isinstance(found, dict):
                raise ValueError(f'GPU profile ConfigMap "{name}": the profile is not a mapping')
            self._profiles[profile] = found
        except ValueError as error:
            self._profiles[profile] = error
            raise

    def pool_named_by(self, labels: Mapping[str, str]) -> str | None:
        """Return the pool that a node's labels name; None where they name none."""
        for document in self._in_order():
            named = labels.get(document.label_key)
            if named is not None and (document is self.cluster or named in (document.pools or {})):
                return named
        return None

    def hardware(self, pool: str) -> Hardware:
        """Return what the nodes of a pool are made of.

        Raises:
            ValueError: there is no such pool, or its profile cannot be had.
        """
        for document in self._in_order():
            found = (document.pools or {}).get(pool)
            if found is not None:
                return Hardware(
                    resolve(found, self.profile), found.other_devices, self.cluster.mig_strategy
                )
        raise ValueError(f"nodepool {pool} not found in cluster topology")

    def pools(self) -> dict[str, DeclaredPool]:
        """Return every pool by name."""
        found: dict[str, DeclaredPool] = {}
        for document in self._in_order():
            found = {**(document.pools or {}), **found}
        return found

    def profile(self, name: str) -> Tree:
        """Return the tree of a profile.

        Raises:
            ValueError: there is none, or it cannot be read.
        """
        found = self._profiles.get(name)
        if found is None:
            missing = profile_config_map_name(name)
            found = ValueError(f'configmaps "{missing}" not found')
        if isinstance(found, ValueError):
            raise ValueError(f'failed to load GPU profile "{name}": {found}') from found
        return found

    def _in_order(self) -> list[ClusterTopology]:
        special = [self._documents[name] for name in self._documents if name != self._name]
        return [*special, self.cluster]
