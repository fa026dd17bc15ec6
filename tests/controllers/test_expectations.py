from contextlib import suppress

from windtunnel.controllers.expectations import Expectations
from windtunnel.kernel import VirtualClock


def test_an_owner_waits_until_it_has_seen_what_it_did() -> None:
    expectations = Expectations(VirtualClock())
    expectations.expect_creation("rs")
    expectations.expect_deletions("rs", ["u1"])
    assert not expectations.met("rs")
    assert expectations.met("other")

    expectations.created("rs")
    assert not expectations.met("rs")
    expectations.deleted("rs", "u1")

    assert expectations.met("rs")


def test_nobody_waits_for_ever() -> None:
    clock = VirtualClock()
    expectations = Expectations(clock)
    expectations.expect_creation("rs")
    clock.move_to(301)

    assert expectations.met("rs")


def test_what_was_never_expected_does_not_count_twice() -> None:
    expectations = Expectations(VirtualClock())
    expectations.created("rs")
    expectations.expect_creation("rs")

    assert not expectations.met("rs")


def test_what_fails_is_not_waited_for() -> None:
    expectations = Expectations(VirtualClock())
    with suppress(OSError), expectations.creating("rs"):
        raise OSError
    with suppress(OSError), expectations.deleting("rs", "u1"):
        raise OSError
    assert expectations.met("rs")

    with expectations.creating("rs"), expectations.deleting("rs", "u1"):
        pass

    assert not expectations.met("rs")
