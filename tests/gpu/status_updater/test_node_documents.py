"""Tests of the documents of nodes as they stand."""

from __future__ import annotations

import pytest
from tests.world import World

from windtunnel.client import Change
from windtunnel.client.protocol import ChangeType
from windtunnel.devices import NodeTopology, TopologyGpu
from windtunnel.gpu.status_updater.accounting import Account
from windtunnel.gpu.status_updater.node_documents import MANAGER, NodeDocuments
from windtunnel.machinery.tree import Key, encode


def change(
    text: str, revision: int = 1, type_: ChangeType = "MODIFIED", name: str = "topology-n"
) -> Change:
    tree = {
        "metadata": {"labels": {"node-name": "n", "node-topology": "true"}},
        "data": {"topology.yml": text},
    }
    return Change(type_, Key("gpu", name), revision, encode(tree))


def documents_of(world: World | None = None) -> NodeDocuments:
    return NodeDocuments((world or World()).client, "topology", "default")


def found(memory: int = 5) -> Account:
    return Account(topology=NodeTopology(gpu_memory=memory))


def test_a_document_is_found_by_its_node() -> None:
    documents = documents_of()

    assert documents.take(change("gpuMemory: 5\n")) == "n"
    known = documents.get("n")
    assert known is not None
    assert known.topology is not None
    assert known.topology.gpu_memory == 5


def test_a_config_map_of_another_name_is_nobodys() -> None:
    documents = documents_of()

    assert documents.take(change("", name="copy")) == ""
    assert documents.nodes() == []


def test_one_that_cannot_be_read_keeps_what_it_said() -> None:
    documents = documents_of()
    documents.take(change("gpuMemory: 5\n"))

    documents.take(change("gpus: [", 2))

    known = documents.get("n")
    assert known is not None
    assert known.flaw.startswith("yaml: line")
    assert known.topology is not None


def test_one_is_created_then_applied_and_written_only_where_it_differs() -> None:
    world = World()
    documents = documents_of(world)
    key = Key("default", "topology-n")

    documents.keep("n", found(), "fake")
    made = world.get("configmaps", "topology-n")
    documents.keep("n", found(), "fake")
    assert world.get("configmaps", "topology-n") == made
    assert made["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}

    documents.keep("n", found(6), "fake")
    operations = [
        (each["manager"], each["operation"])
        for each in world.get("configmaps", "topology-n")["metadata"]["managedFields"]
    ]
    assert (MANAGER, "Apply") in operations

    documents.delete("n")
    assert world.client.get("configmaps", key) is None
    assert documents.nodes() == []


def test_what_is_older_than_what_was_written_is_passed_over() -> None:
    world = World()
    documents = documents_of(world)
    documents.keep("n", found(), None)
    written = documents.get("n")

    documents.take(change("gpuMemory: 7\n"))
    documents.take(change("", 1, "DELETED"))

    assert documents.get("n") is written


def test_one_that_no_config_map_holds_is_refused() -> None:
    huge = NodeTopology(gpus=tuple(TopologyGpu(id=f"GPU-{n}") for n in range(20000)))

    with pytest.raises(ValueError, match="20000 GPUs make it longer than a ConfigMap may be"):
        documents_of().keep("n", Account(topology=huge), None)


def test_one_that_loses_its_labels_is_none_any_more() -> None:
    documents = documents_of()
    documents.take(change(""))
    bare = Change("MODIFIED", Key("gpu", "topology-n"), 2, encode({"metadata": {}}))

    assert documents.take(bare) == "n"
    assert documents.nodes() == []
