"""From HTTP to the core and back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from windtunnel.apiserver.edge import app
from windtunnel.apiserver.request import BODY_LIMIT, Answer, Outcome, Request
from windtunnel.errors import BrokenInvariant
from windtunnel.machinery.admission import Ask, Reply
from windtunnel.machinery.errors import NotFound


def test_a_request_arrives_as_it_was_sent(serve: Any) -> None:
    seen: list[Request] = []

    def handle(request: Request) -> Outcome:
        seen.append(request)
        return Answer(200, b"{}")

    serve(handle).ask(
        "POST", "/api/v1/x%20y?a=1&a=2&empty=&b=%2F", b"body",
        {"Content-Type": "application/json", "Accept": "text/plain", "X-Odd": "Value"},
    )  # fmt: skip

    (request,) = seen
    assert (request.method, request.path, request.body) == ("POST", "/api/v1/x y", b"body")
    assert request.query == [("a", "1"), ("a", "2"), ("empty", ""), ("b", "/")]
    assert (request.content_type, request.accept) == ("application/json", "text/plain")
    assert request.headers["x-odd"] == "Value"
    assert request.certificate is None
    assert request.user is None


def test_a_missing_content_type_is_none(serve: Any) -> None:
    seen: list[Request] = []

    def handle(request: Request) -> Outcome:
        seen.append(request)
        return Answer(200, b"{}")

    serve(handle).ask("GET", "/")

    assert seen[0].content_type is None


def test_a_refusal_that_is_raised_is_answered(serve: Any) -> None:
    def handle(_: Request) -> Outcome:
        raise NotFound.of("pods", "", "p")

    got = serve(handle).ask("GET", "/")

    assert got.status == 404
    assert msgspec.json.decode(got.body)["message"] == 'pods "p" not found'


@pytest.mark.parametrize("bug", [ValueError("a bug"), BrokenInvariant("worse")])
def test_a_bug_is_reported_and_answered_as_one(serve: Any, bug: Exception) -> None:
    def handle(_: Request) -> Outcome:
        raise bug

    served = serve(handle)
    got = served.ask("GET", "/")

    assert got.status == 500
    assert msgspec.json.decode(got.body)["reason"] == "InternalError"
    assert served.crashes == [bug]


@pytest.mark.parametrize(
    ("size", "handed_over"),
    [(BODY_LIMIT, BODY_LIMIT), (BODY_LIMIT + 1, BODY_LIMIT + 1), (3 * BODY_LIMIT, BODY_LIMIT + 1)],
)
def test_of_a_body_that_is_too_long_no_more_is_kept_than_shows_it(
    serve: Any, size: int, handed_over: int
) -> None:
    def handle(request: Request) -> Outcome:
        return Answer(413, str(len(request.body)).encode())

    got = serve(handle).ask("POST", "/", b"x" * size)

    assert (got.status, got.body) == (413, str(handed_over).encode())


def test_a_call_outside_is_made_and_the_request_played_again(serve: Any, unused_port: int) -> None:
    plays: list[dict[str, Reply]] = []

    def handle(request: Request) -> Outcome:
        plays.append(dict(request.answers))
        request.memo.setdefault("uid", len(plays))
        for key in ("first", "second"):
            if key not in request.answers:
                return Ask(key, f"http://127.0.0.1:{unused_port}/", b"{}")
        return Answer(200, str(request.memo["uid"]).encode())

    got = serve(handle).ask("POST", "/", b"{}")

    assert got.body == b"1"
    assert [sorted(answers) for answers in plays] == [[], ["first"], ["first", "second"]]
    assert "connection refused" in plays[2]["first"].error


@pytest.mark.parametrize("timeout", ["100ms", "0s", "rubbish"])
def test_a_request_ends_within_its_timeout(serve: Any, silent_port: int, timeout: str) -> None:
    def handle(request: Request) -> Outcome:
        if "hook" in request.answers:
            return Answer(200, b"{}")
        return Ask("hook", f"http://127.0.0.1:{silent_port}/", b"{}", timeout_seconds=0.3)

    got = serve(handle).ask("POST", f"/?timeout={timeout}", b"{}")

    assert got.status == (504 if timeout == "100ms" else 200)


def test_requests_of_one_connection_are_answered_in_turn(serve: Any) -> None:
    connection = serve(lambda request: Answer(200, request.path.encode())).connect()
    connection.connect()
    connection.sock.sendall(b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(3)))

    received = b""
    while received.count(b"HTTP/1.1 200") < 3 or not received.endswith(b"/2"):
        received += connection.sock.recv(65536)

    assert received.index(b"\r\n\r\n/0") < received.index(b"\r\n\r\n/1")


def test_a_body_that_breaks_off_is_not_a_request(serve: Any) -> None:
    seen: list[str] = []

    def handle(request: Request) -> Outcome:
        seen.append(request.path)
        return Answer(200, b"{}")

    served = serve(handle)
    for path in ("/none", "/some"):
        connection = served.connect()
        connection.connect()
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n".encode()
        connection.sock.sendall(head + (b"abc" if path == "/some" else b""))
        connection.close()
    while served.on_its_thread(lambda: len(served.server._state.connections)):
        pass
    served.ask("GET", "/after")

    assert seen == ["/after"]
    assert served.crashes == []


def test_an_answer_that_cannot_be_sent_is_reported(serve: Any) -> None:
    served = serve(lambda _: Answer(200, b"{}", headers=[("Warning", "two\nlines")]))

    with pytest.raises(ConnectionError):
        served.ask("GET", "/")
    assert [type(error) for error in served.crashes] == [RuntimeError]


def test_a_revision_that_has_not_come_is_waited_for(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_FUTURE_SECONDS", 0.01)
    asked: list[Request] = []

    def handle(request: Request) -> Outcome:
        asked.append(request)
        return Answer(504, b"{}", awaits=1000)

    assert serve(handle).ask("GET", "/").status == 504
    assert len(asked) == 2
    assert asked[0] is asked[1]


@pytest.mark.parametrize("path", ["/api/v1/namespaces/%zz/pods", "/%", "/a%2"])
def test_a_misspelt_path_is_refused(serve: Any, path: str) -> None:
    def handle(_: Request) -> Outcome:
        raise AssertionError

    got = serve(handle).ask("GET", path)

    assert (got.status, got.body) == (400, b"400 Bad Request")
