from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.controllers.endpoints.packing import MOST, Group, Packing, pack
from windtunnel.controllers.endpoints.views import SliceView
from windtunnel.machinery.tree import Tree

HTTP: tuple[Tree, ...] = ({"name": "http", "protocol": "TCP", "port": 80},)
ALT: tuple[Tree, ...] = ({"name": "http", "protocol": "TCP", "port": 81},)


def endpoint(number: int, *, ready: bool = True) -> Tree:
    return {"addresses": [f"10.0.{number // 250}.{number % 250}"], "conditions": {"ready": ready}}


def there(name: str, endpoints: Sequence[Tree], ports: Any = HTTP) -> SliceView:
    tree = {
        "metadata": {"name": name, "uid": name},
        "addressType": "IPv4",
        "endpoints": list(endpoints),
        "ports": ports and list(ports),
    }
    return msgspec.convert(tree, SliceView)


def group(endpoints: Sequence[Tree], ports: Any = HTTP) -> Group:
    return Group("IPv4", ports, endpoints)


def counts(packing: Packing) -> tuple[list[int], list[tuple[str, int]], list[str]]:
    return (
        [len(content.endpoints) for content in packing.create],
        [(each.metadata.name, len(content.endpoints)) for each, content in packing.update],
        [each.metadata.name for each in packing.delete],
    )


def test_what_is_right_is_left_alone() -> None:
    ends = [endpoint(number) for number in range(3)]

    assert counts(pack([group(ends)], [there("a", ends[::-1])])) == ([], [], [])
    assert counts(pack([group(ends)], [there("a", ends)], relabel=True)) == ([], [("a", 3)], [])


def test_a_service_without_pods_has_one_empty_slice() -> None:
    nothing = group([], None)

    assert counts(pack([nothing], [])) == ([0], [], [])
    assert counts(pack([nothing], [there("a", [], None)])) == ([], [], [])
    assert counts(pack([nothing], [there("a", [endpoint(1)])])) == ([], [("a", 0)], [])


def test_a_slice_that_goes_gives_way_to_one_that_comes() -> None:
    packing = pack([group([endpoint(1)], ALT)], [there("a", [endpoint(1)])])

    assert counts(packing) == ([], [("a", 1)], [])
    assert packing.update[0][1].ports == ALT


def test_new_endpoints_go_where_there_is_room_for_all_of_them() -> None:
    first = [endpoint(number) for number in range(98)]
    second = [endpoint(number) for number in range(98, 130)]
    fresh = [endpoint(number) for number in range(130, 140)]

    packing = pack([group(first + second + fresh)], [there("a", first), there("b", second)])

    assert counts(packing) == ([], [("b", 42)], [])


def test_a_changed_state_is_written_in_its_place() -> None:
    before = [endpoint(1), endpoint(2)]

    packing = pack([group([endpoint(1, ready=False), endpoint(2)])], [there("a", before)])

    assert packing.update[0][1].endpoints == [endpoint(1, ready=False), endpoint(2)]


numbers = st.sets(st.integers(0, 400), max_size=350)


@given(numbers, st.lists(st.sets(st.integers(0, 400), max_size=MOST), max_size=5))
def test_slices_hold_what_is_wanted_once_and_are_never_too_full(
    wanted: set[int], held: list[set[int]]
) -> None:
    seen: set[int] = set()
    present = []
    for number, each in enumerate(held):
        present.append(there(str(number), [endpoint(one) for one in sorted(each - seen)]))
        seen |= each
    packing = pack([group([endpoint(number) for number in sorted(wanted)])], present)

    gone = {each.metadata.name for each in packing.delete}
    new = {each.metadata.name: content.endpoints for each, content in packing.update}
    after = [
        new.get(each.metadata.name, list(each.endpoints or ()))
        for each in present
        if each.metadata.name not in gone
    ] + [content.endpoints for content in packing.create]
    found = [each["addresses"][0] for ends in after for each in ends]
    assert sorted(found) == sorted(endpoint(number)["addresses"][0] for number in wanted)
    assert all(len(ends) <= MOST for ends in after)
    assert after
    assert all(after) or len(after) == 1
