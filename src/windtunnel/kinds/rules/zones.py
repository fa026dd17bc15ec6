"""In which zone a node is: one rule for the order of nodes and for how fast a zone is evicted."""

from __future__ import annotations

from collections.abc import Mapping


def zone_of(labels: Mapping[str, str]) -> str:
    """Return the key of a node's region and zone, "" for none.

    Source: GetZoneKey of component-helpers v1.36; the beta labels come first, as there.
    """
    region, zone = _label(labels, "region"), _label(labels, "zone")
    return f"{region}:\0:{zone}" if region or zone else ""


def _label(labels: Mapping[str, str], what: str) -> str:
    stable = labels.get(f"topology.kubernetes.io/{what}", "")
    return labels.get(f"failure-domain.beta.kubernetes.io/{what}", stable)
