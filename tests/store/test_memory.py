"""The store without a disk: what has left memory is gone."""

import pytest

from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key
from windtunnel.store import HistoryGone, Store
from windtunnel.store.memory import MemoryBackend


def test_history_that_left_memory_is_gone() -> None:
    store = Store(MemoryBackend(), VirtualClock(), recent_bytes=5_000)
    for _ in range(50):
        store.put(
            "pods",
            Key("ns", "a"),
            body=lambda _: b"{}",
            expected=None,
            uid="",
            labels={},
            fields={},
        )

    with pytest.raises(HistoryGone) as refusal:
        store.since("pods", 10)
    assert 40 < refusal.value.oldest < 51


def test_a_write_is_durable_at_once() -> None:
    store = Store(MemoryBackend(), VirtualClock())
    store.put(
        "pods", Key("ns", "a"), body=lambda _: b"{}", expected=None, uid="", labels={}, fields={}
    )

    assert store.durable == store.revision == 2
    assert store.failure is None
