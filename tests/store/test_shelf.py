"""Objects of one resource: key order and what was there before."""

from windtunnel.machinery.tree import Key
from windtunnel.store.shelf import Shelf, path_of
from windtunnel.store.version import Version, VersionType


def version(
    key: Key, revision: int, kind: VersionType = "ADDED", previous: Version | None = None
) -> Version:
    return Version("pods", key, revision, kind, b"{}", "u", {}, {}, revision, previous)


def test_keys_are_in_the_byte_order_of_their_paths() -> None:
    shelf = Shelf(0)
    for revision, key in enumerate(
        [Key("b", "x"), Key("a", "y"), Key("a-b", "z"), Key("a", "x")], start=1
    ):
        shelf.place(version(key, revision))

    assert [path_of(item.key) for item in shelf.list()] == ["a-b/z", "a/x", "a/y", "b/x"]


def test_a_namespace_is_not_mixed_up_with_one_that_begins_alike() -> None:
    shelf = Shelf(0)
    for revision, key in enumerate([Key("a", "x"), Key("a-b", "x"), Key("ab", "x")], start=1):
        shelf.place(version(key, revision))

    assert [item.key for item in shelf.list("a")] == [Key("a", "x")]
    assert shelf.count("a") == 1
    assert shelf.list("b") == []


def test_cluster_scoped_objects_sort_by_name() -> None:
    shelf = Shelf(0)
    for revision, name in enumerate(["n2", "n10", "n1"], start=1):
        shelf.place(version(Key("", name), revision))

    assert [item.key.name for item in shelf.list()] == ["n1", "n10", "n2"]


def test_the_past_is_the_present_with_changes_undone() -> None:
    shelf = Shelf(0)
    first = version(Key("a", "x"), 1)
    second = version(Key("a", "x"), 2, "MODIFIED", first)
    gone = version(Key("a", "x"), 3, "DELETED", second)
    for item in (first, second, gone):
        shelf.place(item)
        shelf.recent.append(item)

    assert shelf.at(0) == {}
    assert shelf.at(1) == {"a/x": first}
    assert shelf.at(2) == {"a/x": second}
    assert shelf.at(3) == {}
