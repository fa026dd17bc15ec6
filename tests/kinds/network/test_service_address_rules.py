from __future__ import annotations

import pytest

from windtunnel.kinds.network.service_address_rules import (
    validate_address_changes,
    validate_cluster_addresses,
)
from windtunnel.machinery.tree import Tree

SPECS: dict[str, tuple[Tree, list[str]]] = {
    "one address": ({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}, []),
    "headless": ({"clusterIP": "None", "clusterIPs": ["None"]}, []),
    "none at all": ({}, []),
    "the list begins with another": (
        {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.2"]},
        ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
    ),
    "two of one family": (
        {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "10.0.0.2"]},
        ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]:'
         " may specify no more than one IP for each IP family"],
    ),
    "the wrong family": (
        {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ipFamilies": ["IPv6"]},
        ['spec.clusterIPs[0]: Invalid value: "10.0.0.1":'
         " expected an IPv6 value as indicated by `ipFamilies[0]`"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "want"), SPECS.values(), ids=SPECS)
def test_addresses_fit_each_other(spec: Tree, want: list[str]) -> None:
    assert [str(violation) for violation in validate_cluster_addresses(spec, {})] == want


def test_what_was_given_stays() -> None:
    old = {"clusterIPs": ["10.0.0.1"], "ipFamilies": ["IPv4"]}
    found = validate_address_changes({**old, "clusterIPs": ["10.0.0.2"]}, old)

    assert [violation.field for violation in found] == ["spec.clusterIPs[0]"]
    assert validate_address_changes(old, old) == []
