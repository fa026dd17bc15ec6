"""The pools of the cluster as they stand: every document that describes some, and the profiles.

A document that cannot be read changes nothing: what it said before goes on. Where two name the same
pool, the ConfigMap of the pool goes before that of the cluster, for it is the more special.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from windtunnel.devices import (
    PRODUCT_LABEL,
    PROFILE_KEY,
    ClusterTopology,
    DeclaredPool,
    GpuPool,
    GpuShape,
    MigEntry,
    MigInstance,
    NodeTopology,
    OtherDevice,
    Sharing,
    TopologyGpu,
    capacity_of,
    discovered,
    geometry_of,
    gpu_id,
    load_yaml,
    offerings,
    parse_cluster_topology,
    profile_config_map_name,
    profile_of_config_map,
    resolve,
    slice_id,
    topology_text,
)
from windtunnel.machinery.tree import Tree

_OF_POOLS: Final = "-pool-"
_STRATEGY: Final = "nvidia.com/mig.strategy"


class PoolFlaw(ValueError):
    """There is such a pool, but no node can be made of it."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the nodes of one pool are made of."""

    shape: GpuShape
    other_devices: tuple[OtherDevice, ...]
    mig_strategy: str

    sharing: Sharing | None = None
    cuts: Mapping[int, tuple[MigInstance, ...]] = field(default_factory=dict)
    """By the number of a GPU: its slices, without ids where the node decides them."""

    def capacity(self) -> dict[str, str]:
        """Return the extended resources of one node, as a node's status writes them."""
        if not self._is_plain:
            return capacity_of(self.fitted("", None))
        return self._pool().capacity()

    def labels(self) -> dict[str, str]:
        """Return the labels that GPU feature discovery gives to a node of them."""
        labels = self._pool().labels()
        if self._is_plain or not labels:
            return labels
        topology = self.fitted("", None)
        strategy = {} if self.mig_strategy in ("", "none") else {_STRATEGY: self.mig_strategy}
        return labels | strategy | discovered(topology, labels[PRODUCT_LABEL])

    @property
    def _is_plain(self) -> bool:
        return self.sharing is None and not self.cuts

    def _pool(self) -> GpuPool:
        return GpuPool(
            gpu_product=self.shape.product,
            gpu_count=self.shape.count,
            gpu_memory=self.shape.memory_mib,
            other_devices=self.other_devices,
        )

    def recut(self, cuts: Mapping[int, tuple[MigInstance, ...]]) -> Hardware:
        """Return the same with some GPUs cut otherwise.

        Raises:
            PoolFlaw: there are no such GPUs, or the strategy does not allow it.
        """
        return _checked(replace(self, cuts={**self.cuts, **cuts}))

    def fitted(self, node: str, before: NodeTopology | None) -> NodeTopology:
        """Return the document of a node of this pool; GPUs that it had stay what they are."""
        before = before or NodeTopology()
        had = before.gpus
        return msgspec.structs.replace(
            before,
            gpu_memory=self.shape.memory_mib,
            gpu_product=self.shape.product,
            driver_version=self.shape.driver_version,
            cuda_version=self.shape.cuda_version,
            gpus=tuple(
                self._gpu(node, index, had[index] if index < len(had) else None)
                for index in range(self.shape.count)
            ),
            mig_strategy=self.mig_strategy,
            other_devices=self.other_devices,
            sharing=self.sharing,
        )

    def _gpu(self, node: str, index: int, had: TopologyGpu | None) -> TopologyGpu:
        gpu = had or TopologyGpu(id=gpu_id(node, index))
        cut = self.cuts.get(index)
        if cut is None:
            return msgspec.structs.replace(gpu, mig=None)
        known = {one.id: one for one in gpu.mig or ()}
        slices = []
        for one in cut:
            named = one.id or slice_id(node, index, one.start, one.profile)
            was = known.get(named, MigInstance())
            slices.append(
                msgspec.structs.replace(was, id=named, profile=one.profile, start=one.start)
            )
        return msgspec.structs.replace(gpu, mig=tuple(slices))


def _cuts(entries: tuple[MigEntry, ...], shape: GpuShape) -> dict[int, tuple[MigInstance, ...]]:
    """Return the slices of each GPU; a later entry for a GPU replaces an earlier one.

    Raises:
        PoolFlaw: they do not fit.
    """
    found: dict[int, tuple[MigInstance, ...]] = {}
    for entry in entries:
        every = range(shape.count)
        for index in every if entry.devices == "all" else entry.devices:
            if index not in every:
                raise PoolFlaw(f"mig: there is no GPU {index}, only {shape.count}")
            if entry.mig_enabled:
                try:
                    placed = geometry_of(shape.product).place(entry.mig_devices)
                except ValueError as error:
                    raise PoolFlaw(f"mig: {error}") from error
                found[index] = tuple(
                    MigInstance(profile=profile.name, start=start) for profile, start in placed
                )
            elif entry.mig_devices:
                raise PoolFlaw(f"mig: GPU {index} has mig-devices, but not mig-enabled")
            else:
                found.pop(index, None)
    return found


def _checked(hardware: Hardware) -> Hardware:
    """Return the same, if a node can be made of it."""
    for index in hardware.cuts:
        if not 0 <= index < hardware.shape.count:
            raise PoolFlaw(f"mig: there is no GPU {index}, only {hardware.shape.count}")
    if hardware.cuts or hardware.sharing is not None:
        try:
            offerings(hardware.fitted("", None))
        except ValueError as error:
            raise PoolFlaw(str(error)) from error
    return hardware


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
            PoolFlaw: it cannot be read, or its GPUs cannot be cut or shared as it says.
            ValueError: there is no such pool, or its profile cannot be had.
        """
        for document in self._in_order():
            found = (document.pools or {}).get(pool)
            if found is not None:
                if found.flaw:
                    raise PoolFlaw(found.flaw)
                shape = resolve(found, self.profile)
                strategy = self.cluster.mig_strategy or document.mig_strategy
                return _checked(
                    Hardware(
                        shape=shape,
                        other_devices=found.other_devices,
                        mig_strategy=found.mig_strategy or strategy,
                        sharing=found.sharing,
                        cuts=_cuts(found.mig, shape),
                    )
                )
        known = ", ".join(sorted(self.pools())) or "none"
        raise ValueError(f"nodepool {pool} not found in cluster topology; known are: {known}")

    def flaws(self, config_map: str) -> list[str]:
        """Return why pools of a ConfigMap cannot be read."""
        document = self._documents.get(config_map) or ClusterTopology()
        return [pool.flaw for pool in (document.pools or {}).values() if pool.flaw]

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
