"""Nodes of several clusters on one machine do not get each other's addresses."""

from pathlib import Path

import pytest

from windtunnel.errors import ClusterError
from windtunnel.nodes.kubelet.network import claim_again, claim_network, served_at

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


def test_a_node_that_comes_back_has_the_network_it_had(tmp_path: Path) -> None:
    memory = tmp_path / "network"
    memory.write_text("94")
    network = claim_again(memory)
    other = claim_again(memory)

    assert (network.pod_cidr, network.services) == ("10.94.0.0/24", "127.194.")
    assert other.number != 94
    assert memory.read_text() == str(other.number)
    network.release()
    other.release()


def test_a_memory_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    memory = tmp_path / "network"
    memory.write_text("many")
    network = claim_again(memory)
    network.release()

    assert memory.read_text() == str(network.number)


def test_a_pods_address_is_served_on_the_machine() -> None:
    assert served_at("10.42.0.7") == "127.42.0.7"
    assert served_at("192.168.1.1") == "192.168.1.1"
