"""Nodes of several clusters on one machine do not get each other's addresses."""

import pytest

from windtunnel.errors import ClusterError
from windtunnel.nodes.kubelet.network import claim_network

FREE = (210, 211)
"""Networks that no node claims by itself."""


def test_each_node_has_a_network_of_its_own() -> None:
    first = claim_network(FREE)
    second = claim_network(FREE)

    assert (first.pod_cidr, second.pod_cidr) == ("10.210.0.0/24", "10.211.0.0/24")
    with pytest.raises(ClusterError, match="every network for pods is taken"):
        claim_network(FREE)

    first.release()
    again = claim_network(FREE)
    assert again.pod_cidr == first.pod_cidr
    again.release()
    second.release()
