"""Connections to other servers, and what is said when there is none."""

from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from windtunnel.apiserver.edge.dialing import dial, in_words
from windtunnel.apiserver.request import Destination

WORDS = {
    "refused": (ConnectionRefusedError(), "dial tcp h:1: connect: connection refused"),
    "too late": (TimeoutError(), "dial tcp h:1: i/o timeout"),
    "unknown": (socket.gaierror(), "dial tcp: lookup h: no such host"),
    "else": (OSError(), "OSError"),
}


@pytest.mark.parametrize(("error", "words"), WORDS.values(), ids=WORDS)
def test_what_went_wrong_in_words(error: Exception, words: str) -> None:
    assert in_words(error, "h", 1) == words


def test_nobody_there_is_an_os_error(unused_port: int) -> None:
    async def run() -> None:
        destination = Destination("127.0.0.1", unused_port, secure=False)
        await dial(destination, ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    with pytest.raises(OSError):
        asyncio.run(run())
