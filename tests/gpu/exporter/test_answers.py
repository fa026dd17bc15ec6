"""Tests of what an exporter answers."""

from __future__ import annotations

from windtunnel.gpu.exporter.answers import answer


def test_metrics_are_made_when_they_are_asked_for() -> None:
    texts = iter(["one\n", "two\n"])

    for want in (b"one\n", b"two\n"):
        reply = answer("/metrics", lambda: next(texts))
        assert (reply.status, reply.body) == (200, want)
        assert reply.content_type == "text/plain; version=0.0.4; charset=utf-8"


def test_other_paths_are_answered_without_making_any() -> None:
    def none() -> str:
        raise AssertionError("nobody has asked for metrics")

    assert answer("/healthz", none).status == 200
    assert answer("/other", none).status == 404
