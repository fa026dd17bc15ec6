"""What may be the address of an API server."""

from __future__ import annotations

import pytest

from windtunnel.client.connection import Connection
from windtunnel.errors import UsageError

WRONG = [
    "",
    "https://",
    "https://x:abc",
    "https://x:0",
    "https://x:99999999",
    "https://x:-1",
    "https://[::1:6443",
    "https://two words:1",
    "127.0.0.1:6443",
    "ftp://x",
]


@pytest.mark.parametrize("server", WRONG)
def test_what_cannot_be_an_address_is_refused_in_one_sentence(server: str) -> None:
    with pytest.raises(UsageError, match=r"is no address of an API server: \S") as refused:
        Connection(server)

    assert server in str(refused.value)


@pytest.mark.parametrize(
    "server", ["https://x", "http://127.0.0.1:8080", "https://[fd00::1]:6443/root", "https://a_b:1"]
)
def test_what_can_be_an_address_is_taken(server: str) -> None:
    assert Connection(server).server == server
