"""A bug becomes one sentence that names the part, the object, and the way to the data."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.assembly.ending import explained
from windtunnel.assembly.virtual import Virtual
from windtunnel.errors import ClusterError
from windtunnel.fleet.columns import Columns
from windtunnel.machinery.tree import Tree
from windtunnel.nodes import PoolOrder


def pod(**spec: Any) -> Tree:
    containers = [{"name": "c", "image": "x"}]
    metadata = {"name": "p", "namespace": "default"}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


def _raise(*_: Any) -> None:
    raise OverflowError("too large")


def test_a_step_of_the_scheduler_names_its_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    virtual = Virtual(pools=[PoolOrder(name="h100", count=1, gpus=8)])
    virtual.run(1)
    virtual.client("user").create("pods", pod())
    monkeypatch.setattr(Columns, "vector", _raise)

    with pytest.raises(OverflowError) as met:
        virtual.run(1)
    assert str(explained(met.value, virtual.store)) == (
        "the cluster stops: its scheduler met a bug at pods default/p (OverflowError: too large); "
        "windtunnel up --without scheduler starts it without"
    )


def test_a_change_that_cannot_be_followed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    virtual = Virtual(pools=[PoolOrder(name="h100", count=1, gpus=8)])
    virtual.run(1)
    failures: list[Exception] = []
    virtual.store.failed = failures.append
    monkeypatch.setattr(Columns, "vector", _raise)

    made = virtual.client("user").create("pods", pod(nodeName="h100-0"))
    assert made["metadata"]["uid"]
    assert "its scheduler met a bug at pods default/p" in str(explained(failures[0], virtual.store))


def test_a_bug_of_nobody_known_stays_what_it_is() -> None:
    bug = OverflowError("too large")

    assert explained(bug, Virtual().store) is bug


def test_what_is_a_sentence_already_stays() -> None:
    error = ClusterError("port in use")

    assert explained(error, Virtual().store) is error
