from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from windtunnel.gpu.exporter.demand import Demand, asker
from windtunnel.kernel import Loop, VirtualClock


class Round:
    """A loop, and a way to wait for the thread that asks."""

    def __init__(self) -> None:
        self.told = threading.Event()
        self.failures: list[str] = []
        self.loop = Loop(VirtualClock(), lambda who, key, error: self.failures.append(str(error)))
        self.loop.wake = self.told.set

    def settle(self) -> None:
        assert self.told.wait(5)
        self.told.clear()
        self.loop.run_due()


def test_answers_are_kept_until_the_next() -> None:
    world, changes, answers = Round(), [], {"a": 3, "b": 1}
    demand = Demand(world.loop, answers.__getitem__, lambda: changes.append(1))

    demand.refresh({"a", "b"})
    world.settle()
    assert (demand.load("a"), demand.load("b"), demand.load("c")) == (3, 1, 0)

    demand.refresh({"b"})
    world.settle()
    assert not demand.knows("a")
    assert len(changes) == 2


def unreachable(uid: str) -> int:
    asked.append(uid)
    raise ConnectionRefusedError("refused")


asked: list[str] = []


def test_whoever_cannot_be_reached_is_asked_once_and_all_show_nothing() -> None:
    world = Round()
    asked.clear()
    demand = Demand(world.loop, unreachable, lambda: None)

    demand.refresh({"a", "b"})
    world.settle()

    assert (asked, world.failures) == (["a"], ["refused"])
    assert demand.load("a") == 0


def test_where_nobody_is_to_be_asked_for_nobody_is_asked() -> None:
    demand = Demand(Loop(VirtualClock()), unreachable, lambda: None)
    asked.clear()
    demand.refresh(set())

    assert asked == []


@contextmanager
def prometheus(status: int, body: object) -> Iterator[tuple[str, list[str]]]:
    paths: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


def vector(*values: object) -> dict[str, object]:
    return {"data": {"result": [{"value": [1, value]} for value in values]}}


ANSWERS: dict[str, tuple[object, Callable[[int], bool]]] = {
    "a number is cut": (vector("3.9"), lambda load: load == 3),
    "the first counts": (vector("2", "9"), lambda load: load == 2),
    "no pod, no load": (vector(), lambda load: load == 0),
    "another shape": ([], lambda load: load == 0),
}


@pytest.mark.parametrize(("body", "holds"), ANSWERS.values(), ids=ANSWERS.keys())
def test_what_prometheus_says(body: object, holds: Callable[[int], bool]) -> None:
    with prometheus(200, body) as (url, paths):
        assert holds(asker(url)("uid-1"))

    (query,) = parse_qs(urlsplit(paths[0]).query)["query"]
    assert query == (
        "(rate(revision_app_request_count[1m]) + on(pod) group_left(uid) "
        'kube_pod_info{uid="uid-1"})'
    )


@pytest.mark.parametrize(("status", "body"), [(500, {}), (200, vector("NaN"))])
def test_nonsense_is_told(status: int, body: object) -> None:
    with prometheus(status, body) as (url, _), pytest.raises(ValueError):
        asker(url)("uid-1")


@pytest.mark.parametrize("url", ["http://x:abc", "http://two words:9090", "nowhere"])
def test_a_place_where_no_prometheus_can_be_is_told_each_round(url: str) -> None:
    world = Round()
    demand = Demand(world.loop, asker(url), lambda: None)

    for _ in range(2):
        demand.refresh({"a"})
        world.settle()

    assert len(world.failures) == 2
