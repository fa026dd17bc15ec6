from __future__ import annotations

import pytest

from windtunnel.apiserver.call import Call, ReplyWanted
from windtunnel.apiserver.mint import live_mint
from windtunnel.apiserver.request import Request
from windtunnel.apiserver.routes import parse
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.admission import Ask, Reply, User

KIND = Catalogue(builtin_kinds()).by_resource("configmaps")
MINT = live_mint()


def call(request: Request) -> Call:
    return Call(request, parse("POST", request.path), User("u"), KIND, 0.0, MINT)


def test_a_replay_mints_the_same() -> None:
    request = Request("POST", "/api/v1/namespaces/ns/configmaps")
    first, again = call(request), call(request)

    assert first.new_uid() == again.new_uid()
    assert first.generated_name("x-") == again.generated_name("x-")
    assert first.new_uid() != call(Request("POST", request.path)).new_uid()


def test_a_long_base_leaves_room_for_the_suffix() -> None:
    assert len(call(Request("POST", "/")).generated_name("x" * 80)) == 63


def test_a_reply_is_wanted_until_it_is_there() -> None:
    request = Request("POST", "/api/v1/namespaces/ns/configmaps")
    ask = Ask("k", "https://x", b"")

    with pytest.raises(ReplyWanted) as wanted:
        call(request).reply_to(ask)
    assert wanted.value.ask is ask
    request.answers["k"] = Reply(body=b"x")
    assert call(request).reply_to(ask).body == b"x"


def test_the_same_warning_is_given_once() -> None:
    one = call(Request("POST", "/"))
    one.warn("a")
    one.warn("a")

    assert one.warnings == ["a"]
