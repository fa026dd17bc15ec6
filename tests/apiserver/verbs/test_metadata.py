from __future__ import annotations

from windtunnel.apiserver.verbs.metadata import keep_system_fields, ordered


def test_metadata_is_written_in_the_order_of_the_api() -> None:
    given = {"labels": {"a": "b"}, "uid": "u", "name": "n", "annotations": {}, "finalizers": []}

    assert list(ordered(given).items()) == [("name", "n"), ("uid", "u"), ("labels", {"a": "b"})]


def test_a_grace_period_of_zero_is_written() -> None:
    assert ordered({"deletionGracePeriodSeconds": 0, "generation": 0}) == {
        "deletionGracePeriodSeconds": 0
    }


def test_an_update_cannot_touch_what_is_the_servers() -> None:
    old = {"uid": "u", "creationTimestamp": "t", "generation": 3}
    new = {"generation": 9, "deletionTimestamp": "x", "labels": {"a": "b"}}

    keep_system_fields(new, old)

    assert new == {"uid": "u", "creationTimestamp": "t", "generation": 3, "labels": {"a": "b"}}
