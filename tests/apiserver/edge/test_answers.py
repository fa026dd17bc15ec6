"""What every answer has, and how large ones travel."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from windtunnel.apiserver.request import Answer


def test_an_answer_carries_what_all_answers_carry(serve: Any) -> None:
    got = serve(lambda _: Answer(201, b"{}\n", headers=[("Warning", '299 - "x"')])).ask("GET", "/")

    assert (got.status, got.body) == (201, b"{}\n")
    assert got.headers["content-type"] == "application/json"
    assert got.headers["cache-control"] == "no-cache, private"
    assert got.headers["content-length"] == "3"
    assert got.headers["date"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert got.headers["warning"] == '299 - "x"'
    assert len(got.headers["audit-id"]) == 36


def test_an_answer_may_say_otherwise(serve: Any) -> None:
    got = serve(
        lambda _: Answer(200, b"", "text/plain", [("Cache-Control", "public"), ("ETag", '"x"')])
    ).ask("GET", "/")

    assert got.headers["cache-control"] == "public"
    assert got.headers["content-type"] == "text/plain"
    assert got.headers["etag"] == '"x"'


def test_no_two_answers_have_the_same_audit_id(serve: Any) -> None:
    served = serve(lambda _: Answer(200, b"{}"))

    ids = {served.ask("GET", "/").headers["audit-id"] for _ in range(3)}

    assert len(ids) == 3


def test_head_has_headers_only(serve: Any) -> None:
    got = serve(lambda _: Answer(405, b"{}")).ask("HEAD", "/")

    assert (got.status, got.body, got.headers["content-length"]) == (405, b"", "2")


def test_not_modified_has_no_body(serve: Any) -> None:
    got = serve(lambda _: Answer(304, b"")).ask("GET", "/")

    assert (got.status, got.body) == (304, b"")


@pytest.mark.parametrize(
    ("size", "accepts", "packed"),
    [
        (200_000, "gzip, deflate", True),
        (3_000_000, "gzip", True),
        (200_000, "", False),
        (128 * 1024, "gzip", False),
    ],
)
def test_large_answers_are_packed_when_asked(
    serve: Any, size: int, accepts: str, packed: bool
) -> None:
    body = b"windtunnel" * (size // 10)

    got = serve(lambda _: Answer(200, body)).ask("GET", "/", None, {"Accept-Encoding": accepts})

    assert (got.headers.get("content-encoding") == "gzip") == packed
    assert (got.headers.get("vary") == "Accept-Encoding") == packed
    assert (gzip.decompress(got.body) if packed else got.body) == body
