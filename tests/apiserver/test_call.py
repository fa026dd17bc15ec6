from __future__ import annotations

import re

import pytest

from windtunnel.apiserver.call import Call, ReplyWanted, fresh_uid, suffix
from windtunnel.apiserver.request import Ask, Reply, Request, User
from windtunnel.apiserver.routes import parse
from windtunnel.kinds.served.registry import Catalogue, builtin_kinds

KIND = Catalogue(builtin_kinds()).by_resource("configmaps")


def call(request: Request) -> Call:
    return Call(request, parse("POST", request.path), User("u"), KIND, 0.0)


def test_uids_and_suffixes_look_like_the_real_ones() -> None:
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", fresh_uid()
    )
    assert re.fullmatch("[bcdfghjklmnpqrstvwxz2456789]{5}", suffix())


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
