from __future__ import annotations

from collections.abc import Callable

import pytest

from windtunnel.apiserver.call import ReplyWanted
from windtunnel.apiserver.parking import Parking
from windtunnel.apiserver.request import Request
from windtunnel.kernel import Parked
from windtunnel.machinery.admission import Ask, Reply
from windtunnel.machinery.tree import Key

PLACE = ("create", "configmaps", Key("ns", "m"), "")
ASK = Ask("hook", "https://hook", b"")


def asking(request: Request) -> Callable[[], Reply]:
    def write() -> Reply:
        if ASK.key not in request.answers:
            raise ReplyWanted(ASK)
        return request.answers[ASK.key]

    return write


def test_a_write_goes_on_with_the_request_it_left() -> None:
    replies: list[Callable[[Reply], None]] = []
    parking = Parking(lambda _, done: replies.append(done))
    request = parking.request(PLACE)
    with pytest.raises(Parked) as parked:
        parking.run(PLACE, request, asking(request))
    woken: list[bool] = []
    parked.value.resume(lambda: woken.append(True))

    replies[0](Reply(body=b"yes"))

    assert woken == [True]
    again = parking.request(PLACE)
    assert again is request
    assert parking.run(PLACE, again, asking(again)).body == b"yes"
    assert parking.request(PLACE) is not request


def test_where_nothing_can_be_asked_the_write_is_told_so_at_once() -> None:
    parking = Parking(None)
    request = parking.request(PLACE)

    assert parking.run(PLACE, request, asking(request)).error
