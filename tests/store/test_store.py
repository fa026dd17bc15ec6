"""The store: revisions, order, history and telling, the same over memory and over a disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key, encode
from windtunnel.store import HistoryGone, Stale, Store, Version
from windtunnel.store.memory import MemoryBackend
from windtunnel.store.sqlite import SqliteBackend

Make = Callable[..., Store]


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    stores: list[Store] = []

    def make_store(**settings: int) -> Store:
        on_disk = request.param == "sqlite"
        backend = SqliteBackend(tmp_path / "state.db") if on_disk else MemoryBackend()
        stores.append(Store(backend, VirtualClock(), **settings))
        return stores[-1]

    yield make_store
    for store in stores:
        store.check()
        store.close()


def put(
    store: Store,
    name: str,
    *,
    namespace: str = "ns",
    expected: int | None = None,
    labels: dict[str, str] | None = None,
    resource: str = "pods",
) -> Version:
    def body(revision: int) -> bytes:
        return encode({"metadata": {"name": name, "resourceVersion": str(revision)}})

    return store.put(
        resource, Key(namespace, name), body=body, expected=expected, uid=f"uid-{name}",
        labels=labels or {}, fields={"metadata.name": name},
    )  # fmt: skip


def seen(versions: list[Version]) -> list[tuple[str, str, int]]:
    return [(version.type, version.key.name, version.revision) for version in versions]


def test_an_empty_store_stands_at_revision_one(make: Make) -> None:
    store = make()

    assert (store.revision, store.durable) == (1, 1)
    assert store.list("pods") == []
    assert store.count("pods") == 0
    assert store.get("pods", Key("ns", "a")) is None


def test_a_write_is_seen_at_once_and_carries_its_revision(make: Make) -> None:
    store = make()

    version = put(store, "a", expected=0)

    assert store.get("pods", Key("ns", "a")) is version
    assert version.tree()["metadata"]["resourceVersion"] == str(version.revision) == "2"
    assert (version.type, version.created, version.previous) == ("ADDED", 2, None)


def test_a_replacement_remembers_when_the_object_was_created(make: Make) -> None:
    store = make()
    first = put(store, "a")

    second = put(store, "a", expected=first.revision)

    assert (second.type, second.created, second.previous) == ("MODIFIED", 2, first)


@pytest.mark.parametrize(("expected", "current"), [(0, 2), (1, 2), (3, 2)])
def test_a_stale_write_is_refused_and_changes_nothing(
    make: Make, expected: int, current: int
) -> None:
    store = make()
    first = put(store, "a")

    with pytest.raises(Stale) as refusal:
        put(store, "a", expected=expected)

    assert refusal.value.current == current
    assert store.get("pods", Key("ns", "a")) is first
    assert store.revision == 2


def test_creating_what_must_exist_is_refused(make: Make) -> None:
    with pytest.raises(Stale) as refusal:
        put(make(), "a", expected=7)

    assert refusal.value.current == 0


def test_a_removed_object_leaves_its_last_state_with_the_revision_of_the_removal(
    make: Make,
) -> None:
    store = make()
    first = put(store, "a", labels={"app": "x"})

    gone = store.remove("pods", Key("ns", "a"), expected=first.revision)

    assert store.get("pods", Key("ns", "a")) is None
    assert gone.tree() == {"metadata": {"name": "a", "resourceVersion": "3"}}
    assert (gone.type, gone.previous, gone.labels) == ("DELETED", first, {"app": "x"})


def test_removing_what_is_not_there_is_refused(make: Make) -> None:
    with pytest.raises(Stale):
        make().remove("pods", Key("ns", "a"), expected=None)


def test_an_object_created_again_is_a_new_object(make: Make) -> None:
    store = make()
    put(store, "a")
    store.remove("pods", Key("ns", "a"), expected=None)

    again = put(store, "a", expected=0)

    assert (again.type, again.created, again.previous) == ("ADDED", 4, None)


def test_changes_since_a_revision_come_in_order_without_gap(make: Make) -> None:
    store = make()
    put(store, "a")
    put(store, "b", resource="nodes", namespace="")
    put(store, "a")
    store.remove("pods", Key("ns", "a"), expected=None)
    put(store, "c", namespace="other")

    assert seen(store.since("pods", 1)) == [
        ("ADDED", "a", 2), ("MODIFIED", "a", 4), ("DELETED", "a", 5), ("ADDED", "c", 6),
    ]  # fmt: skip
    assert seen(store.since("pods", 4, "ns")) == [("DELETED", "a", 5)]
    assert store.since("pods", 6) == store.since("pods", 99) == []


def test_the_state_at_a_revision_can_be_listed(make: Make) -> None:
    store = make()
    put(store, "b")
    put(store, "a")
    put(store, "b")
    store.remove("pods", Key("ns", "a"), expected=None)
    put(store, "c", namespace="other")

    assert [v.revision for v in store.at("pods", 2)] == [2]
    assert [v.revision for v in store.at("pods", 4)] == [3, 4]
    assert [v.revision for v in store.at("pods", 5)] == [4]
    assert [v.revision for v in store.at("pods", 6, "ns")] == [4]
    assert store.at("pods", 1) == []


def test_compacted_history_is_gone_and_the_state_at_its_end_is_not(make: Make) -> None:
    store = make()
    put(store, "a")
    put(store, "a")
    put(store, "b")
    store.flush()

    store.compact(3)
    store.flush()

    with pytest.raises(HistoryGone) as refusal:
        store.since("pods", 2)
    assert refusal.value.oldest == 3
    with pytest.raises(HistoryGone):
        store.at("pods", 2)
    assert seen(store.since("pods", 3)) == [("ADDED", "b", 4)]
    assert [v.revision for v in store.at("pods", 3)] == [3]


def test_nothing_is_missed_where_nothing_happened_so_compaction_does_not_matter(
    make: Make,
) -> None:
    store = make()
    put(store, "a", resource="services")
    for _ in range(5):
        put(store, "b")
    store.compact(store.revision)

    assert store.since("services", 2) == []


def test_compaction_never_goes_back_and_never_ahead(make: Make) -> None:
    store = make()
    put(store, "a")
    store.compact(99)
    store.compact(1)

    assert store.compacted == 2


def test_subscribers_are_told_inside_the_write(make: Make) -> None:
    store = make()
    pods: list[Version] = []
    everything: list[Version] = []
    stop = store.subscribe("pods", pods.append)
    store.subscribe("", everything.append)

    first = put(store, "a")
    node = put(store, "n", resource="nodes", namespace="")
    stop()
    stop()
    second = put(store, "a")

    assert pods == [first]
    assert everything == [first, node, second]


def test_a_bug_of_one_subscriber_hides_the_change_from_nobody(make: Make) -> None:
    store = make()
    bug = OverflowError("too large")
    others: list[Version] = []
    failures: list[Exception] = []

    def broken(version: Version) -> None:
        raise bug

    store.subscribe("pods", broken)
    store.subscribe("pods", others.append)
    store.subscribe("", others.append)
    with pytest.raises(OverflowError):
        put(store, "a")
    store.failed = failures.append
    second = put(store, "b")

    assert store.get("pods", second.key) is second
    assert others[2:] == [second, second]
    assert failures == [bug]
    store.check()


def test_a_subscriber_may_not_write(make: Make) -> None:
    store = make()
    store.subscribe("pods", lambda _: put(store, "b") and None)

    with pytest.raises(BrokenInvariant):
        put(store, "a")


def test_equal_labels_are_one_dict(make: Make) -> None:
    store = make()

    first = put(store, "a", labels={"app": "x"})
    second = put(store, "b", labels={"app": "x"})
    third = put(store, "b", labels={"app": "x"})

    assert first.labels is second.labels is third.labels


def test_resources_are_those_of_which_something_exists(make: Make) -> None:
    store = make()
    put(store, "n", resource="nodes", namespace="")
    put(store, "a")
    store.remove("pods", Key("ns", "a"), expected=None)

    assert store.resources() == ["nodes"]


def test_memory_holds_a_bounded_part_of_the_past(make: Make) -> None:
    store = make(recent_bytes=5_000)
    for _ in range(50):
        put(store, "a")
        store.flush()

    assert store.get("pods", Key("ns", "a")).revision == 51  # type: ignore[union-attr]
    assert len(store.since("pods", 48)) == 3
    oldest = store.since("pods", 45)[0]
    assert oldest.revision == 46


def test_a_quiet_resource_keeps_its_history_when_a_busy_one_fills_the_memory(make: Make) -> None:
    store = make(recent_bytes=5_000)
    put(store, "quiet", resource="services")
    for _ in range(50):
        put(store, "busy")
        store.flush()

    assert store.since("services", 2) == []
