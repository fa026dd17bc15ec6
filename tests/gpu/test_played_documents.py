"""Tests of the documents of played nodes."""

from __future__ import annotations

from windtunnel.client import Change
from windtunnel.gpu.played_documents import PlayedDocuments
from windtunnel.machinery.tree import Key, encode


def change(text: str, note: str = "fake", node: str = "n") -> Change:
    tree = {
        "metadata": {
            "labels": {"node-name": node},
            "annotations": {"kwok.x-k8s.io/node": note},
        },
        "data": {"topology.yml": text},
    }
    return Change("MODIFIED", Key("gpu", "any"), 1, encode(tree))


def test_any_config_map_that_says_so_counts_and_its_last_readable_state_holds() -> None:
    broken: list[str] = []
    documents = PlayedDocuments(lambda key, error: broken.append(key.name))

    assert documents.take(change("gpuMemory: 5\n")) == "n"
    assert documents.take(change("gpus: [")) == ""

    found = documents.get("n")
    assert found is not None
    assert (found.gpu_memory, broken) == (5, ["any"])


def test_one_that_is_not_played_does_not_count() -> None:
    documents = PlayedDocuments(lambda key, error: None)

    assert documents.take(change("", note="other")) == ""
    documents.take(change(""))
    assert documents.take(change("", note="other")) == "n"
    assert documents.get("n") is None
