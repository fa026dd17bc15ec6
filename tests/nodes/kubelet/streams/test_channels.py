"""Dialects: how messages are written, read and chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.streams.channels import DIALECTS, Dialect, Message, choose

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
V5, V4 = BY_NAME["v5.channel.k8s.io"], BY_NAME["v4.channel.k8s.io"]


@given(dialect=st.sampled_from(DIALECTS), channel=st.integers(0, 4), payload=st.binary(max_size=50))
def test_what_is_written_is_read(dialect: Dialect, channel: int, payload: bytes) -> None:
    assert dialect.read(dialect.written(channel, payload)) == Message(channel, payload)


READ: dict[str, tuple[Dialect, bytes | str, Message | None]] = {
    "an end": (V5, b"\xff\x00", Message(0, last=True)),
    "an end of nothing": (V5, b"\xff", None),
    "no end before v5": (V4, b"\xff\x00", Message(255, b"\x00")),
    "nothing": (V4, b"", None),
    "no base64": (BY_NAME["base64.channel.k8s.io"], "0!", None),
    "a text instead of bytes": (V4, "\x00hi", Message(0, b"hi")),
}


@pytest.mark.parametrize(("dialect", "raw", "message"), READ.values(), ids=READ)
def test_what_clients_send(dialect: Dialect, raw: bytes | str, message: Message | None) -> None:
    assert dialect.read(raw) == message


def test_the_client_s_order_counts() -> None:
    assert choose(["v9", V4.name, V5.name]) == V4
    assert choose(["v9"]) is None
    unnamed = choose([])
    assert unnamed is not None
    assert unnamed.name == ""
