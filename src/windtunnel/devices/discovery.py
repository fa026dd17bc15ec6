"""The labels by which GPU feature discovery tells that GPUs are cut or shared.

A node whose GPUs are neither gets none of them: what it is labelled with is fake-gpu-operator's.

Source: GPU feature discovery 0.20.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from windtunnel.devices.catalogue import GPU
from windtunnel.devices.mig import MigProfile
from windtunnel.devices.mig_products import geometry_of
from windtunnel.devices.node_topology import NodeTopology
from windtunnel.devices.offering import Offering, offerings
from windtunnel.devices.product import label_value

_SHARED: Final = "-SHARED"
_ENGINES: Final = ("copy", "decoder", "encoder", "jpeg", "ofa")
_NAMES: Final = frozenset(
    {
        f"{GPU}.replicas", f"{GPU}.sharing-strategy", f"{GPU}.multiprocessors",
        f"{GPU}.slices.gi", f"{GPU}.slices.ci", "nvidia.com/mps.capable",
        *(f"{GPU}.engines.{engine}" for engine in _ENGINES),
    }
)  # fmt: skip
_OF_SLICES: Final = "nvidia.com/mig-"
_LONGEST: Final = 63


def is_discovered(label: str) -> bool:
    """Say whether a label is one of those that a node has only while its GPUs are cut or shared."""
    return label in _NAMES or (
        label.startswith(_OF_SLICES) and label[len(_OF_SLICES) :][:1].isdigit()
    )


def discovered(topology: NodeTopology, product: str) -> dict[str, str]:
    """Return the labels that a node has because its GPUs are cut or shared; else none.

    Args:
        topology: What it has.
        product: The label's value for its product.
    """
    is_cut = any(gpu.mig is not None for gpu in topology.gpus)
    if topology.sharing is None and not is_cut:
        return {}
    capable = {"nvidia.com/mig.capable": "true"} if is_cut else {}
    try:
        found = {offer.resource: offer for offer in offerings(topology)}
    except ValueError:
        return capable | {
            f"{GPU}.product": label_value(f"{product}-MIG-INVALID"),
            f"{GPU}.count": "0",
            f"{GPU}.replicas": "0",
            f"{GPU}.memory": "0",
            f"{GPU}.sharing-strategy": "",
        }
    whole = next(iter(found.values()))
    strategy = topology.mig_strategy or "none"
    if is_cut and strategy == "single":
        return capable | _of_single(topology, product, whole)
    labels = capable | {
        f"{GPU}.product": _product(product, topology, whole),
        f"{GPU}.replicas": str(whole.replicas if whole.units or not is_cut else 0),
        f"{GPU}.sharing-strategy": _strategy(topology, whole),
    }
    if topology.sharing is not None and topology.sharing.mps is not None:
        labels["nvidia.com/mps.capable"] = "true"
    if is_cut and strategy == "mixed":
        labels |= _of_mixed(topology, product, found)
    return labels


def _of_single(topology: NodeTopology, product: str, offer: Offering) -> dict[str, str]:
    first = next(one for gpu in topology.gpus for one in gpu.mig or ())
    profile = geometry_of(topology.gpu_product).profile(first.profile)
    name = f"{product}-MIG-{profile.label}"
    return {
        f"{GPU}.product": _product(name, topology, offer),
        f"{GPU}.count": str(len(offer.units)),
        f"{GPU}.replicas": str(offer.replicas),
        f"{GPU}.sharing-strategy": _strategy(topology, offer),
        **_of_profile(GPU, profile),
    }


def _of_mixed(topology: NodeTopology, product: str, found: dict[str, Offering]) -> dict[str, str]:
    geometry = geometry_of(topology.gpu_product)
    counts = Counter(
        geometry.profile(one.profile) for gpu in topology.gpus for one in gpu.mig or ()
    )
    labels: dict[str, str] = {}
    for profile, count in counts.items():
        offer = found.get(profile.resource) or found[f"{profile.resource}.shared"]
        labels |= {
            f"{profile.resource}.product": _product(
                f"{product}-MIG-{profile.label}", topology, offer
            ),
            f"{profile.resource}.count": str(count),
            f"{profile.resource}.replicas": str(offer.replicas),
            f"{profile.resource}.sharing-strategy": _strategy(topology, offer),
            **_of_profile(profile.resource, profile),
        }
    return labels


def _of_profile(prefix: str, profile: MigProfile) -> dict[str, str]:
    engines = zip(_ENGINES, profile.engines, strict=True)
    return {
        f"{prefix}.memory": str(profile.memory_mib),
        f"{prefix}.multiprocessors": str(profile.multiprocessors),
        f"{prefix}.slices.gi": str(profile.compute),
        f"{prefix}.slices.ci": str(profile.compute),
        **{f"{prefix}.engines.{engine}": str(count) for engine, count in engines},
    }


def _product(name: str, topology: NodeTopology, offer: Offering) -> str:
    """Mark what is offered several times over, unless its resource is called so."""
    renamed = topology.sharing is not None and topology.sharing.replication.rename_by_default
    if offer.replicas == 1 or renamed:
        return label_value(name)
    return label_value(name)[: _LONGEST - len(_SHARED)] + _SHARED


def _strategy(topology: NodeTopology, offer: Offering) -> str:
    if topology.sharing is None or offer.replicas == 1:
        return "none"
    return topology.sharing.strategy
