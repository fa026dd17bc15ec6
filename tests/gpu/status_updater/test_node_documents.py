"""Tests of the documents of nodes as they stand."""

from __future__ import annotations

from windtunnel.client import Change
from windtunnel.client.protocol import ChangeType
from windtunnel.gpu.status_updater.node_documents import NodeDocument, NodeDocuments
from windtunnel.machinery.tree import Key, encode


def change(
    text: str, revision: int = 1, type_: ChangeType = "MODIFIED", name: str = "topology-n"
) -> Change:
    tree = {
        "metadata": {"labels": {"node-name": "n", "node-topology": "true"}},
        "data": {"topology.yml": text},
    }
    return Change(type_, Key("gpu", name), revision, encode(tree))


def test_a_document_is_found_by_its_node() -> None:
    documents = NodeDocuments("topology")

    assert documents.take(change("gpuMemory: 5\n")) == "n"
    found = documents.get("n")
    assert found is not None
    assert found.topology is not None
    assert found.topology.gpu_memory == 5


def test_a_config_map_of_another_name_is_nobodys() -> None:
    documents = NodeDocuments("topology")

    assert documents.take(change("", name="copy")) == ""
    assert documents.nodes() == []


def test_one_that_cannot_be_read_keeps_what_it_said() -> None:
    documents = NodeDocuments("topology")
    documents.take(change("gpuMemory: 5\n"))

    documents.take(change("gpus: [", 2))

    found = documents.get("n")
    assert found is not None
    assert found.flaw.startswith("yaml: line")
    assert found.topology is not None


def test_what_is_older_than_what_was_written_is_passed_over() -> None:
    documents = NodeDocuments("topology")
    written = NodeDocument(revision=5, text="", topology=None)
    documents.put("n", written)

    documents.take(change("gpuMemory: 5\n", 4))
    documents.take(change("", 4, "DELETED"))

    assert documents.get("n") is written


def test_one_that_loses_its_labels_is_none_any_more() -> None:
    documents = NodeDocuments("topology")
    documents.take(change(""))
    bare = Change("MODIFIED", Key("gpu", "topology-n"), 2, encode({"metadata": {}}))

    assert documents.take(bare) == "n"
    assert documents.nodes() == []
