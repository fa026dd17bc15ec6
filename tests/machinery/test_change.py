"""Changes, and views of their objects: the same however the object came."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from windtunnel.machinery.change import Change, Loose, ViewReader
from windtunnel.machinery.tree import Key, Tree, encode

TREE: Tree = {"name": "a", "more": {"x": [1]}, "list": [{"n": 1}], "unread": 1}


class Sound(Struct):
    name: str = ""
    more: Loose | None = None
    list: tuple[Loose, ...] = ()


class Untyped(Struct):
    more: Any = None


class Raw(Struct):
    more: msgspec.Raw = msgspec.Raw(b"")


def change(tree: Tree, *, at_hand: bool) -> Change:
    return Change("MODIFIED", Key("", "a"), 1, encode(tree), tree if at_hand else None)


@pytest.mark.parametrize("type_", [Sound, Untyped])
@pytest.mark.parametrize("fleeting", [True, False])
def test_a_view_is_the_same_of_json_and_of_a_tree(type_: type[Struct], fleeting: bool) -> None:
    reader: ViewReader[Struct] = ViewReader(type_, fleeting=fleeting)

    assert reader.read(change(TREE, at_hand=True)) == reader.read(change(TREE, at_hand=False))


def test_raw_parts_stay_as_they_came() -> None:
    view: Raw = ViewReader[Raw](Raw).read(change(TREE, at_hand=True))

    assert bytes(view.more) == b'{"x":[1]}'


def test_a_view_that_is_kept_shares_nothing_with_the_writer() -> None:
    tree = msgspec.json.decode(encode(TREE))
    sound: Sound = ViewReader[Sound](Sound).read(change(tree, at_hand=True))
    untyped: Untyped = ViewReader[Untyped](Untyped).read(change(tree, at_hand=True))

    tree["more"]["x"].append(2)
    tree["list"][0]["n"] = 2

    assert (sound.more, sound.list) == ({"x": [1]}, ({"n": 1},))
    assert untyped.more == {"x": [1]}


def test_a_change_that_is_kept_has_only_its_json() -> None:
    afar = change(TREE, at_hand=False)

    assert change(TREE, at_hand=True).kept() == afar
    assert afar.kept() is afar
