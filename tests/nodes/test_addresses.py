import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.addresses import Addresses


def test_an_owner_keeps_its_address() -> None:
    addresses = Addresses("10.128.0.0/9")

    assert addresses.give("a") == addresses.give("a") == "10.128.0.1"


def test_a_taken_address_is_never_given() -> None:
    addresses = Addresses("10.0.0.0/24")
    addresses.note("old", "10.0.0.1")

    assert addresses.give("new") == "10.0.0.2"


def test_a_second_owner_of_the_same_address_is_noticed() -> None:
    addresses = Addresses("10.0.0.0/24")

    assert addresses.note("a", "10.0.0.7")
    assert not addresses.note("b", "10.0.0.7")


def test_a_full_range_is_an_error() -> None:
    addresses = Addresses("10.0.0.0/30")
    for owner in "abc":
        addresses.give(owner)

    with pytest.raises(ValueError, match="every pod address is taken"):
        addresses.give("d")


moves = st.lists(
    st.tuples(st.sampled_from(["give", "free", "note"]), st.integers(0, 9), st.integers(1, 12))
)


@given(moves)
def test_no_two_owners_ever_share_an_address(history: list[tuple[str, int, int]]) -> None:
    addresses = Addresses("10.0.0.0/24")
    held: dict[int, str] = {}
    for move, owner, number in history:
        if move == "give":
            held[owner] = addresses.give(owner)
        elif move == "free":
            addresses.free(owner)
            held.pop(owner, None)
        elif owner not in held and addresses.note(owner, f"10.0.0.{number}"):
            held[owner] = f"10.0.0.{number}"

        assert len(set(held.values())) == len(held)
        assert all(addresses.of(each) == address for each, address in held.items())
