from __future__ import annotations

from windtunnel.client import Write
from windtunnel.client.event_series import EventSeries
from windtunnel.client.events import Subject
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key

POD = Subject("Pod", "p", "team", "u1", resource_version="7")


def tell(events: EventSeries, subject: Subject = POD, reason: str = "Scheduled") -> Write | None:
    return events.write_of(subject, reason, "assigned", action="Binding", controller="mine")


def test_an_event_says_who_tells_what_about_whom() -> None:
    write = tell(EventSeries(VirtualClock(1_800_000_000.5), "here"))

    assert write is not None
    assert (write.verb, write.resource) == ("create", "events.events.k8s.io")
    assert write.key == Key("team", f"p.{1_800_000_000_500_000_000:x}")
    assert write.body["reportingInstance"] == "mine-here"
    assert write.body["eventTime"] == "2027-01-15T08:00:00.500000Z"
    assert write.body["regarding"] == {
        "kind": "Pod",
        "namespace": "team",
        "name": "p",
        "uid": "u1",
        "apiVersion": "v1",
        "resourceVersion": "7",
    }


def test_the_same_again_becomes_a_series_that_is_written_when_it_begins() -> None:
    events = EventSeries(VirtualClock(), "here")
    first, second, third = (tell(events) for _ in range(3))

    assert first is not None
    assert second is not None
    assert (second.verb, second.key) == ("patch", first.key)
    assert second.body["series"]["count"] == 2
    assert third is None


def test_two_events_of_one_moment_have_two_names() -> None:
    events = EventSeries(VirtualClock(), "here")
    writes = [tell(events, reason=reason) for reason in ("Scheduled", "Preempted")]

    assert len({write.key for write in writes if write is not None}) == 2


def test_a_subject_that_has_changed_has_events_of_its_own() -> None:
    events = EventSeries(VirtualClock(), "here")
    tell(events)
    later = tell(events, Subject("Pod", "p", "team", "u1", resource_version="8"))

    assert later is not None
    assert later.verb == "create"


def test_how_often_it_was_is_written_when_it_has_ended() -> None:
    clock = VirtualClock(1_800_000_000.0)
    events = EventSeries(clock, "here")
    first, _, _ = (tell(events) for _ in range(3))
    tell(events, reason="Preempted")
    clock.move_to(1_800_000_360.0)
    assert events.ended() == []
    clock.move_to(1_800_000_360.5)
    (write,) = events.ended()

    assert first is not None
    assert (write.verb, write.key) == ("patch", first.key)
    assert write.body["series"] == {"count": 3, "lastObservedTime": "2027-01-15T08:00:00.000000Z"}
    assert events.ended() == []
    again = tell(events)
    assert again is not None
    assert again.verb == "create"


def test_a_series_that_lasts_is_told_so_far() -> None:
    events = EventSeries(VirtualClock(), "here")
    for _ in range(4):
        tell(events)
    tell(events, reason="Preempted")

    assert [write.body["series"]["count"] for write in events.lasting()] == [4]
