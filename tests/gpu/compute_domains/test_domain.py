"""Tests of what a compute domain comes to."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.gpu.compute_domains.domain import owns, status_of, template_name, template_of


def domain(nodes: int = 2, template: str = "t") -> dict[str, Any]:
    channel = {"resourceClaimTemplate": {"name": template}} if template else {}
    return {
        "metadata": {"name": "d", "namespace": "ml", "uid": "u"},
        "spec": {"numNodes": nodes, "channel": channel},
    }


READINESS = {
    "too few": (2, ["a", "a"], "NotReady", ["a"]),
    "enough": (2, ["b", "a"], "Ready", ["a", "b"]),
    "none are needed": (0, [], "Ready", []),
}


@pytest.mark.parametrize(("wanted", "pools", "want", "nodes"), READINESS.values(), ids=READINESS)
def test_status(wanted: int, pools: list[str], want: str, nodes: list[str]) -> None:
    status = status_of(domain(wanted), pools)

    assert status["status"] == want
    assert [node["name"] for node in status.get("nodes", [])] == nodes


def test_a_template_is_named_by_its_domain_where_the_domain_names_none() -> None:
    assert [template_name(domain(template=name)) for name in ("t", "")] == ["t", "d"]


def test_a_template_belongs_to_the_domain_it_was_made_for() -> None:
    made = template_of(domain())

    assert owns(domain(), made)
    assert not owns(domain(), {"metadata": {}})
    parameters = made["spec"]["spec"]["devices"]["config"][0]["opaque"]["parameters"]
    assert (parameters["domainID"], parameters["allocationMode"]) == ("u", "Single")
