"""The document of a cluster's pools: which there are, and what GPUs their nodes have.

A pool is written in one of two forms: the older one says product, count and memory; the newer one
names a profile and what differs from it. Each pool is read in the form it is written in. The
original reads the whole document in one form, so that a pool of the other vanishes; a document that
says ``compat: "0.2"`` is read in this way, too. A pool that cannot be read has a flaw; the others
are none the worse for it.

Beyond the original a pool may say how its GPUs are shared (``sharing``, as NVIDIA's device plugin
is configured) and cut (``mig``, the entries of a configuration of nvidia-mig-parted).

Source: fake-gpu-operator 0.2, ConfigMap ``topology``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from windtunnel.devices.catalogue import GPU
from windtunnel.devices.documents import load_yaml, without_nulls
from windtunnel.devices.numa import Numa
from windtunnel.devices.pools import TOPOLOGY_KEY, GpuPool, OtherDevice
from windtunnel.devices.profiles import GpuShape, merged, shape_of
from windtunnel.devices.sharing import Sharing, check_sharing
from windtunnel.machinery.tree import Tree, dig

COMPAT: Final = "0.2"
"""The release whose ways ``compat`` may ask for."""
MOCK: Final = "mock"
_MIB: Final = 1 << 20
_MOST_GPUS: Final = 100_000
"""Far more than a ConfigMap can hold: more would only waste memory before it is refused."""
_NO_GPUS: Final = GpuPool()
_BEYOND: Final = frozenset({"sharing", "mig", "migStrategy"})


class _GpuBlock(msgspec.Struct, frozen=True, rename="camel"):
    backend: str = ""
    profile: str = ""
    overrides: dict[str, Any] = {}


class MigEntry(msgspec.Struct, frozen=True, rename="kebab"):
    """How some of a node's GPUs are cut."""

    devices: tuple[int, ...] | Literal["all"] = "all"
    """Their numbers."""
    mig_enabled: bool = True
    mig_devices: dict[str, int] = {}
    """How many of each profile."""


class _PoolBlock(msgspec.Struct, frozen=True, rename="camel"):
    gpu: _GpuBlock | None = None
    numa: Numa | None = None
    resources: tuple[dict[str, int], ...] = ()
    gpu_product: str = ""
    gpu_count: int = 0
    gpu_memory: int = 0
    other_devices: tuple[OtherDevice, ...] = ()
    sharing: Sharing | None = None
    mig: tuple[MigEntry, ...] = ()
    mig_strategy: str = ""


class _Document(msgspec.Struct, frozen=True, rename="camel"):
    node_pools: dict[str, Any] = {}
    node_pool_label_key: str = ""
    mig_strategy: str = ""
    compat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredPool:
    """What the nodes of one pool have, before its profile is known."""

    backend: str = ""
    profile: str = ""
    overrides: Tree = field(default_factory=dict)
    """Laid over the profile, or all there is where no profile is named."""
    other_devices: tuple[OtherDevice, ...] = ()
    numa: Numa | None = None
    legacy: GpuPool = _NO_GPUS
    """What a reader of the older form sees."""
    sharing: Sharing | None = None
    mig: tuple[MigEntry, ...] = ()
    mig_strategy: str = ""
    """Goes before that of the document."""
    flaw: str = ""
    """Why it cannot be read; then nothing else is known of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTopology:
    """One document of pools."""

    pools: dict[str, DeclaredPool] | None = None
    """None where the document has no such field."""
    label_key: str = ""
    """The node label that names a node's pool."""
    mig_strategy: str = ""
    compat: bool = False
    """Whether the ways of the original are asked for, where they differ from ours."""


def topology_text(config_map: Tree) -> str:
    """Return the document in a ConfigMap.

    Raises:
        ValueError: it has none, or an empty one.
    """
    text = (config_map.get("data") or {}).get(TOPOLOGY_KEY)
    if text is None:
        raise ValueError(f'topology configmap missing key "{TOPOLOGY_KEY}"')
    if not text:
        raise ValueError("topology data is empty")
    return str(text)


def parse_cluster_topology(text: str) -> ClusterTopology:
    """Read a document of pools; what is unknown in it is passed over.

    Raises:
        ValueError: it is no YAML, or a field says what it cannot.
    """
    found = load_yaml(text)
    if found is None:
        return ClusterTopology()
    if not isinstance(found, dict):
        raise ValueError("the topology is not a mapping")
    named = ("nodePoolLabelKey", "migStrategy", "compat")
    document = _convert(_with_texts(without_nulls(found), named), _Document, "the topology")
    compat = document.compat == COMPAT
    blocks = {name: block or {} for name, block in (found.get("nodePools") or {}).items()}
    newer = _whole_document_is_newer(found, blocks) if compat else None
    return ClusterTopology(
        pools={
            str(name): _pool_or_flaw(str(name), block, newer=newer)
            for name, block in blocks.items()
        }
        if "nodePools" in found
        else None,
        label_key=document.node_pool_label_key,
        mig_strategy=document.mig_strategy,
        compat=compat,
    )


def parse_pools(config_map: Tree) -> dict[str, GpuPool]:
    """Return the pools of a ConfigMap that are written in the older form, by name.

    Raises:
        ValueError: the document is missing or cannot be read.
    """
    pools = parse_cluster_topology(topology_text(config_map)).pools or {}
    return {name: pool.legacy for name, pool in pools.items()}


def resolve(pool: DeclaredPool, profile: Callable[[str], Tree]) -> GpuShape:
    """Return what GPUs the nodes of a pool have.

    Args:
        pool: The pool.
        profile: Returns the tree of a profile by name, or raises ValueError.

    Raises:
        ValueError: the pool has a flaw, its profile cannot be had, or there are impossibly many
            GPUs.
    """
    if pool.flaw:
        raise ValueError(pool.flaw)
    if not pool.profile:
        shape = shape_of(pool.overrides, versions=False)
    else:
        try:
            base = profile(pool.profile)
        except ValueError as error:
            raise ValueError(f'failed to resolve profile "{pool.profile}": {error}') from error
        shape = shape_of(merged(base, pool.overrides))
    if shape.count > _MOST_GPUS:
        raise ValueError(f"a node cannot have {shape.count} GPUs")
    return shape


def _pool_or_flaw(name: str, block: Any, *, newer: bool | None) -> DeclaredPool:
    try:
        return _pool(name, block, newer=newer)
    except ValueError as error:
        if newer is not None:  # as the original: one pool spoils the document
            raise
        return DeclaredPool(flaw=str(error))


def _pool(name: str, block: Any, *, newer: bool | None) -> DeclaredPool:
    """Read one pool, in the form it is written in where ``newer`` does not say which."""
    what = f"pool {name}"
    if not isinstance(block, dict):
        raise ValueError(f"{what} is not a mapping")
    tidy = _with_texts(without_nulls(block), ("gpuProduct",))
    if newer is not None:  # the original knows nothing of these
        tidy = {key: value for key, value in tidy.items() if key not in _BEYOND}
    read: _PoolBlock = _convert(tidy, _PoolBlock, what)
    if read.gpu_count < 0:
        raise ValueError(f"{what}: gpuCount is {read.gpu_count}, below 0")
    if read.gpu_count > _MOST_GPUS:
        raise ValueError(f"{what}: a node cannot have {read.gpu_count} GPUs")
    amounts = {name: amount for entry in read.resources for name, amount in entry.items()}
    counted = {**amounts, **{device.name: device.count for device in read.other_devices}}
    for device, count in counted.items():
        if count < 0:
            raise ValueError(f"{what}: the count of {device} is {count}, below 0")
    if read.sharing is not None:
        try:
            check_sharing(read.sharing)
        except ValueError as error:
            raise ValueError(f"{what}: sharing: {error}") from error
    legacy = GpuPool(
        gpu_product=read.gpu_product,
        gpu_count=read.gpu_count,
        gpu_memory=read.gpu_memory,
        other_devices=read.other_devices,
    )
    if newer is False or (newer is None and "gpu" not in block):
        return DeclaredPool(
            overrides=_overrides(legacy),
            other_devices=tuple(sorted(read.other_devices, key=lambda device: device.name)),
            numa=read.numa if newer is None else None,
            legacy=legacy,
            sharing=read.sharing,
            mig=read.mig,
            mig_strategy=read.mig_strategy,
        )
    gpu = read.gpu or _GpuBlock()
    return DeclaredPool(
        backend=gpu.backend,
        profile=gpu.profile,
        # As it stands: a null in it wipes out what the profile says.
        overrides=dig(block, "gpu", "overrides") or {},
        other_devices=tuple(
            OtherDevice(name, amounts[name]) for name in sorted(amounts) if name != GPU
        ),
        numa=read.numa,
        legacy=legacy,
        sharing=read.sharing,
        mig=read.mig,
        mig_strategy=read.mig_strategy,
    )


def _overrides(pool: GpuPool) -> Tree:
    """Return the older form of a pool in the words of the newer one."""
    return {
        "device_defaults": {
            "name": pool.gpu_product,
            "memory": {"total_bytes": pool.gpu_memory * _MIB},
        },
        "devices": [{}] * pool.gpu_count,
    }


def _whole_document_is_newer(document: Tree, blocks: Tree) -> bool:
    """Guess the form of a whole document, as the original does."""
    pools = [block for block in blocks.values() if isinstance(block, dict)]
    if any("gpu" in pool for pool in pools):
        return True
    if any("gpuProduct" in pool or "gpuCount" in pool for pool in pools):
        return False
    return "gpuOperator" in document


def _with_texts(tree: Any, names: tuple[str, ...]) -> Any:
    """Return a tree in which the fields named are texts, though YAML took them for numbers."""
    if not isinstance(tree, dict):
        return tree
    return {
        key: str(value) if key in names and isinstance(value, bool | int | float) else value
        for key, value in tree.items()
    }


def _convert(tree: Any, kind: type[Any], what: str) -> Any:
    try:
        return msgspec.convert(tree, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{what}: {error}") from error
