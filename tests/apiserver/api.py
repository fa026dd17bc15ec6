"""An API server in memory, spoken to as over HTTP but without it: the driver of these tests."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from windtunnel.apiserver.core import Core
from windtunnel.apiserver.request import Answer, Frame, Outcome, Request, Stream
from windtunnel.kernel import VirtualClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.admission import Ask, Reply, User
from windtunnel.machinery.tree import Tree
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend

TOKENS = {
    "admin": User("admin", ("system:masters",), "admin-uid"),
    "alice": User("alice", ("devs",), "alice-uid"),
}
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
UNREACHABLE = Reply(error="dial tcp 127.0.0.1:1: connect: connection refused")
POD_SPEC: Tree = {"containers": [{"name": "c", "image": "busybox:1.36"}]}


class Api:
    """A core over a fresh store, and requests to it in one line."""

    def __init__(self, **settings: Any) -> None:
        self.clock = VirtualClock(1_800_000_000.0)
        self.store = Store(MemoryBackend(), self.clock)
        self.core = Core(
            self.store, Catalogue(builtin_kinds()), self.clock, tokens=TOKENS, **settings
        )
        self.replies: list[Reply] = []
        """What the next calls outside will be answered."""
        self.asked: list[Ask] = []

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str | None = "application/json",
        accept: str = "application/json",
        user: str = "admin",
        headers: dict[str, str] | None = None,
    ) -> Outcome:
        parts = urlsplit(path)
        raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
        request = Request(
            method,
            unquote(parts.path),
            parse_qsl(parts.query, keep_blank_values=True),
            {
                **({"authorization": f"Bearer {user}"} if user else {}),
                "user-agent": "test/1.0",
                **(headers or {}),
            },
            b"" if body is None else raw,
            content_type if body is not None else None,
            accept,
        )
        outcome = self.core.handle(request)
        while isinstance(outcome, Ask):
            self.asked.append(outcome)
            given = self.replies.pop(0) if self.replies else UNREACHABLE
            request.answers[outcome.key] = given
            outcome = self.core.handle(request)
        return outcome

    def answer(self, method: str, path: str, body: Any = None, **how: Any) -> Answer:
        outcome = self.request(method, path, body, **how)
        assert isinstance(outcome, Answer)
        return outcome

    def send(self, method: str, path: str, body: Any = None, **how: Any) -> tuple[int, Any]:
        """Return the status and what the body spells."""
        answer = self.answer(method, path, body, **how)
        return answer.status, msgspec.json.decode(answer.body) if answer.body else None

    def ok(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """Return the body of a request that must succeed."""
        status, tree = self.send(method, path, body, **how)
        assert status < 300, tree
        return tree

    def refused(self, method: str, path: str, body: Any = None, **how: Any) -> tuple[int, str]:
        """Return code and message of a request that must be refused."""
        status, tree = self.send(method, path, body, **how)
        assert status >= 400, tree
        return status, tree["message"]

    def get(self, path: str, **how: Any) -> Any:
        return self.ok("GET", path, **how)

    def post(self, path: str, body: Any, **how: Any) -> Any:
        return self.ok("POST", path, body, **how)

    def put(self, path: str, body: Any, **how: Any) -> Any:
        return self.ok("PUT", path, body, **how)

    def patch(self, path: str, body: Any, content_type: str = MERGE, **how: Any) -> Any:
        return self.ok("PATCH", path, body, content_type=content_type, **how)

    def delete(self, path: str, body: Any = None, **how: Any) -> Any:
        return self.ok("DELETE", path, body, **how)

    def watch(self, path: str, **how: Any) -> Watcher:
        outcome = self.request("GET", path, **how)
        assert not isinstance(outcome, (Answer, Ask))
        return Watcher(outcome)

    def namespace(self, name: str = "ns") -> str:
        """Create a namespace with its default account and return its path."""
        self.post("/api/v1/namespaces", obj("v1", "Namespace", name))
        path = f"/api/v1/namespaces/{name}"
        self.post(f"{path}/serviceaccounts", obj("v1", "ServiceAccount", "default"))
        return path

    def pod(self, path: str, name: str = "p", **spec: Any) -> Any:
        """Create a pod in a namespace's path."""
        return self.post(f"{path}/pods", obj("v1", "Pod", name, spec={**POD_SPEC, **spec}))


class Watcher:
    """What came through a watch."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.frames: list[Frame] = []
        stream.open(self.frames.append)

    @property
    def events(self) -> list[Tree]:
        return [msgspec.json.decode(frame.body) for frame in self.frames]

    @property
    def seen(self) -> list[tuple[str, str]]:
        """(type, name) of every event."""
        return [
            (event["type"], event["object"].get("metadata", {}).get("name", ""))
            for event in self.events
        ]


def obj(api_version: str, kind: str, name: str, **fields: Any) -> Tree:
    """Return a small object; ``metadata`` in fields is joined with its name."""
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def config(name: str, **fields: Any) -> Tree:
    """Return a ConfigMap."""
    return obj("v1", "ConfigMap", name, **fields)
