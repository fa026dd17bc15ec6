from __future__ import annotations

from tests.apiserver.api import Api, config

INITIAL = (
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)


def test_what_exists_then_every_change(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("a"))
    watcher = api.watch(f"{ns}/configmaps?watch=1")

    api.post(f"{ns}/configmaps", config("b"))
    api.patch(f"{ns}/configmaps/b", {"data": {"x": "1"}})
    api.delete(f"{ns}/configmaps/a")

    assert watcher.seen == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "a")]
    assert [frame.revision for frame in watcher.frames[1:]] == [
        int(event["object"]["metadata"]["resourceVersion"]) for event in watcher.events[1:]
    ]


def test_a_watch_goes_on_from_a_revision(api: Api, ns: str) -> None:
    revision = api.post(f"{ns}/configmaps", config("a"))["metadata"]["resourceVersion"]
    api.delete(f"{ns}/configmaps/a")

    watcher = api.watch(f"{ns}/configmaps?watch=1&resourceVersion={revision}")

    assert watcher.seen == [("DELETED", "a")]


def test_lost_history_is_an_error_that_ends_the_stream(api: Api, ns: str) -> None:
    revision = api.post(f"{ns}/configmaps", config("a"))["metadata"]["resourceVersion"]
    api.post(f"{ns}/configmaps", config("b"))
    api.store.compact(api.store.revision)

    watcher = api.watch(f"{ns}/configmaps?watch=1&resourceVersion={revision}")

    (event,) = watcher.events
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    assert watcher.frames[0].last


def test_a_selection_is_left_and_entered(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("a", metadata={"labels": {"x": "y"}}))
    watcher = api.watch(f"{ns}/configmaps?watch=1&labelSelector=x=y")

    api.patch(f"{ns}/configmaps/a", {"metadata": {"labels": {"x": "z"}}})
    api.patch(f"{ns}/configmaps/a", {"data": {"k": "1"}})
    api.patch(f"{ns}/configmaps/a", {"metadata": {"labels": {"x": "y"}}})
    api.delete(f"{ns}/configmaps/a")

    assert watcher.seen == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "a"), ("DELETED", "a")]
    left = watcher.events[1]["object"]
    assert left["metadata"]["labels"] == {"x": "y"}
    assert int(left["metadata"]["resourceVersion"]) == watcher.frames[1].revision


def test_a_streaming_list_ends_with_a_bookmark(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("a"))

    watcher = api.watch(f"{ns}/configmaps?{INITIAL}")

    added, end = watcher.events
    assert (added["type"], end["type"]) == ("ADDED", "BOOKMARK")
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_other_namespaces_and_closed_watches_hear_nothing(api: Api, ns: str) -> None:
    other = api.namespace("other")
    watcher = api.watch(f"{ns}/configmaps?watch=1&resourceVersion={api.store.revision}")

    api.post(f"{other}/configmaps", config("a"))
    assert watcher.seen == []
    watcher.stream.close()
    api.post(f"{ns}/configmaps", config("a"))
    assert watcher.seen == []


def test_bookmarks_only_where_they_are_wanted(api: Api, ns: str) -> None:
    plain = api.watch(f"{ns}/configmaps?watch=1")
    wanted = api.watch(f"{ns}/configmaps?watch=1&allowWatchBookmarks=1&resourceVersion=0")

    assert plain.stream.bookmark(5) is None
    frame = wanted.stream.bookmark(5)
    assert frame is not None
    assert b'"resourceVersion":"5"' in frame.body


def test_only_the_first_table_names_the_columns(api: Api, ns: str) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    watcher = api.watch(f"{ns}/configmaps?watch=1", accept=table)
    api.post(f"{ns}/configmaps", config("a"))
    api.post(f"{ns}/configmaps", config("b"))

    first, second = (event["object"] for event in watcher.events)
    assert [column["name"] for column in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert second["columnDefinitions"] is None


def test_watchers_share_frames(api: Api, ns: str) -> None:
    one, two = api.watch(f"{ns}/configmaps?watch=1"), api.watch(f"{ns}/configmaps?watch=1")

    api.post(f"{ns}/configmaps", config("a"))

    assert one.frames[0].body is two.frames[0].body


def test_the_client_says_how_long(api: Api, ns: str) -> None:
    assert api.watch(f"{ns}/configmaps?watch=1&timeoutSeconds=7").stream.timeout_seconds == 7
    assert api.watch(f"{ns}/configmaps?watch=1").stream.timeout_seconds >= 1800
