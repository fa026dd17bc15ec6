import http.client

import pytest

from windtunnel.gpu.exporter.server import MetricsServer, NoPort


def ask(port: int, path: str) -> tuple[int, str | None, str]:
    wire = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    wire.request("GET", path)
    answer = wire.getresponse()
    found = answer.status, answer.getheader("Content-Type"), answer.read().decode()
    wire.close()
    return found


def test_what_is_asked_for_is_made_at_that_moment() -> None:
    texts = iter(["one\n", "two\n"])
    server = MetricsServer("127.0.0.1", 0, lambda: next(texts))
    server.start()
    try:
        form = "text/plain; version=0.0.4; charset=utf-8"
        assert ask(server.port, "/metrics") == (200, form, "one\n")
        assert ask(server.port, "/metrics?x=1") == (200, form, "two\n")
        assert ask(server.port, "/healthz")[0] == 200
        assert ask(server.port, "/other")[0] == 404
    finally:
        server.stop()


def test_a_port_that_is_taken_is_told() -> None:
    first = MetricsServer("127.0.0.1", 0, str)
    first.start()
    try:
        with pytest.raises(NoPort, match=f"cannot listen at 127.0.0.1:{first.port}"):
            MetricsServer("127.0.0.1", first.port, str).start()
    finally:
        first.stop()
