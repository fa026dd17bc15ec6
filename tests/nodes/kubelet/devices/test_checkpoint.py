"""The checkpoint comes back as it was written, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.devices import checkpoint
from windtunnel.nodes.kubelet.devices.holdings import HeldDevices

names = st.text(min_size=1, max_size=8)
holdings = st.builds(
    HeldDevices,
    st.dictionaries(st.integers(-1, 3), st.lists(names, min_size=1).map(tuple), max_size=3),
    st.binary(max_size=20),
)
entries = st.lists(st.tuples(names, names, names, holdings), max_size=4)


@given(entries, st.dictionaries(names, st.lists(names), max_size=3))
def test_what_was_written_is_read(
    held: list[tuple[str, str, str, HeldDevices]], registered: dict[str, list[str]]
) -> None:
    found, resources = checkpoint.read(checkpoint.text_of(held, registered))

    assert found == held
    assert resources == list(registered)


def test_the_form_is_the_real_one() -> None:
    text = checkpoint.text_of([("u", "c", "r", HeldDevices({0: ("a",)}, b"\x01"))], {"r": ["a"]})

    assert text.startswith(
        b'{"Data":{"PodDeviceEntries":[{"PodUID":"u","ContainerName":"c","ResourceName":"r",'
        b'"DeviceIDs":{"0":["a"]},"AllocResp":"AQ=="}],"RegisteredDevices":{"r":["a"]}},'
        b'"Checksum":'
    )


BROKEN = {
    "cut": lambda text: text[:-5],
    "changed": lambda text: text.replace(b'"u"', b'"v"'),
    "empty": lambda text: b"",
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_file_that_was_cut_or_changed_is_refused(change: object) -> None:
    text = checkpoint.text_of([("u", "c", "r", HeldDevices({0: ("a",)}, b""))], {})

    with pytest.raises(ValueError):
        checkpoint.read(change(text))  # type: ignore[operator]
