from __future__ import annotations

from windtunnel.apiserver.request import Request


def test_the_first_of_repeated_parameters_counts() -> None:
    request = Request("GET", "/", [("a", "1"), ("a", "2")])

    assert request.parameter("a") == "1"
    assert request.parameter("b", "x") == "x"


def test_requests_share_no_memory() -> None:
    one, two = Request("GET", "/"), Request("GET", "/")
    one.memo["a"] = 1

    assert two.memo == {}
