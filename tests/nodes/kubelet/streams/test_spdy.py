"""Frames of SPDY/3.1."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.nodes.kubelet.streams.spdy_client import SpdyClient

from windtunnel.nodes.kubelet.streams.spdy import (
    DICTIONARY,
    Arrived,
    Event,
    Finished,
    Framing,
    Garbled,
    Left,
    Opened,
    Pinged,
)


def test_the_dictionary_is_the_protocol_s() -> None:
    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 0xE3C6A7C2)


@given(
    cuts=st.lists(st.integers(1, 40), max_size=20),
    payload=st.binary(max_size=100),
)
def test_frames_may_come_in_any_pieces(cuts: list[int], payload: bytes) -> None:
    wire = bytearray()
    client = SpdyClient(wire.extend, lambda: b"")
    stream = client.open(streamType="data", port="80")
    again = client.open(fin=True, streamType="error", port="80")
    client.write(stream, payload, fin=True)
    client.reset(again)
    client.ping()
    framing, events = Framing(), list[Event]()
    for cut in [*cuts, len(wire)]:
        events += framing.feed(bytes(wire[:cut]))
        del wire[:cut]

    data: list[Event] = [Arrived(1, payload)] if payload else []
    assert events == [
        Opened(1, {"streamtype": "data", "port": "80"}),
        Opened(3, {"streamtype": "error", "port": "80"}),
        Finished(3),
        *data,
        Finished(1),
        Finished(3, reset=True),
        Pinged(struct.pack(">III", 0x80030006, 4, 77)),
    ]


def test_what_is_sent_is_understood() -> None:
    framing = Framing()
    wire = framing.reply(1) + framing.carry(1, b"ab") + framing.carry(1, b"", last=True)
    client = SpdyClient(lambda _: None, lambda: wire)

    client.until(lambda: 1 in client.ended)

    assert (client.replied, client.came[1]) == ({1}, b"ab")


def test_goodbye() -> None:
    assert list(Framing().feed(struct.pack(">IIII", 0x80030007, 8, 0, 0))) == [Left()]


GARBLED = {
    "another version": struct.pack(">II", 0x80020001, 0),
    "a frame too long": struct.pack(">II", 1, 0xFFFFFF),
    "headers that are none": struct.pack(">II", 0x80030001, 14) + b"\0\0\0\1" + b"x" * 10,
    "a short frame": struct.pack(">II", 0x80030003, 2) + b"xx",
}


@pytest.mark.parametrize("wire", GARBLED.values(), ids=GARBLED)
def test_other_bytes_are_garbled(wire: bytes) -> None:
    with pytest.raises(Garbled):
        list(Framing().feed(wire))
