"""The client over HTTP: blocking, one persistent connection, one thread for each watch.

For agents, the command line and tests; parts inside the server use the in-process client. Only the
owner's thread may call; a watch's thread does nothing but read, remember what it has seen and post
to the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from windtunnel.client.connection import Connection
from windtunnel.client.httpwatch import PAGE, HttpWatch
from windtunnel.client.protocol import Deliver, Write
from windtunnel.client.served import AGGREGATED, Served, read_scopes, read_served
from windtunnel.client.token_file import TokenFile
from windtunnel.client.transport import Transport
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop
from windtunnel.machinery.errors import ApiError, NotFound, refusal
from windtunnel.machinery.tree import Key, Tree, decode, encode, key_of

_MERGE: Final = "application/merge-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_APPLY: Final = "application/apply-patch+yaml"
_MANY: Final = 16
"""So many writes in no order are worth more connections than one."""
_CONNECTIONS: Final = 8


class HttpClient:
    """Talks to one API server over HTTP; implements ``Client``.

    Args:
        connection: Where the server is and who we are.
        manager: Field manager and user agent of everything written.
        loop: Where watches hand over their changes; without one there can be no watch.
        timeout_seconds: Longest wait for any one answer.
    """

    def __init__(
        self,
        connection: Connection,
        manager: str = "windtunnel",
        loop: Loop | None = None,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.manager = manager
        self._connection, self._loop, self._timeout = connection, loop, timeout_seconds
        self._transport = Transport(connection, timeout_seconds)
        file = connection.token_file
        self._token_file = None if file is None else TokenFile(file)
        self._places: dict[str, tuple[str, bool]] = {}

    def served(self) -> Sequence[Served]:
        """Return every resource in every version that is served now, preferred versions first."""
        found: list[Served] = []
        for root in ("/api", "/apis"):
            status, body = self.ask("GET", root, accept=AGGREGATED)
            if status != 200:
                raise refusal(decode(body))
            found += read_served(body)
        return found

    def get(self, resource: str, key: Key) -> Tree | None:
        """Return the object, or None where there is none."""
        try:
            return self._tree("GET", self.path(resource, key))
        except NotFound:
            return None

    def list(
        self, resource: str, namespace: str = "", label_selector: str = "", field_selector: str = ""
    ) -> list[Tree]:
        """Return matching objects in key order."""
        selectors = {"labelSelector": label_selector, "fieldSelector": field_selector}
        found: list[Tree] = []
        token = ""
        while True:
            query = {name: text for name, text in selectors.items() if text}
            query["limit"] = str(PAGE)
            if token:
                query["continue"] = token
            page = self._tree("GET", self.path(resource, Key(namespace, "")), query=query)
            found += page.get("items") or []
            token = (page.get("metadata") or {}).get("continue") or ""
            if not token:
                return found

    def create(self, resource: str, tree: Tree) -> Tree:
        """Create the object named in its metadata and return it as stored."""
        namespace = key_of(tree).namespace
        path = self.path(resource, Key(namespace, ""), write=True)
        return self._tree("POST", path, tree, self._written())

    def update(self, resource: str, tree: Tree, *, subresource: str = "") -> Tree:
        """Replace the object or a subresource (the resourceVersion, if given, must be current)."""
        path = self.path(resource, key_of(tree), subresource)
        return self._tree("PUT", path, tree, self._written())

    def update_status(self, resource: str, tree: Tree) -> Tree:
        """Replace the object's status."""
        path = self.path(resource, key_of(tree), "status")
        return self._tree("PUT", path, tree, self._written())

    def patch(
        self,
        resource: str,
        key: Key,
        patch: Tree,
        *,
        subresource: str = "",
        strategic: bool = False,
    ) -> Tree:
        """Merge-patch (or strategic-merge-patch) the object or a subresource."""
        path = self.path(resource, key, subresource)
        content_type = _STRATEGIC if strategic else _MERGE
        return self._tree("PATCH", path, patch, self._written(), content_type)

    def apply(self, resource: str, tree: Tree, *, manager: str = "", force: bool = False) -> Tree:
        """Server-side apply as ``manager`` (this client's own by default)."""
        query = {"fieldManager": manager or self.manager, "force": str(force).lower()}
        return self._tree("PATCH", self.path(resource, key_of(tree)), tree, query, _APPLY)

    def delete(
        self,
        resource: str,
        key: Key,
        *,
        uid: str = "",
        grace_seconds: int | None = None,
        propagation: str = "",
    ) -> None:
        """Delete the object; ``uid``, where given, must match. Missing objects raise NotFound."""
        options: Tree = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if propagation:
            options["propagationPolicy"] = propagation
        self._tree("DELETE", self.path(resource, key), options)

    def bind(self, key: Key, node: str, uid: str = "") -> None:
        """Bind a pod to a node."""
        metadata = {"name": key.name, "namespace": key.namespace, **({"uid": uid} if uid else {})}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": metadata,
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        self._tree("POST", self.path("pods", key, "binding"), binding, self._written())

    def evict(self, key: Key) -> None:
        """Evict a pod, honouring disruption budgets (TooManyRequests where they forbid it)."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": key.name, "namespace": key.namespace},
        }
        self._tree("POST", self.path("pods", key, "eviction"), eviction)

    def write_many(
        self, writes: Sequence[Write], *, in_order: bool = True
    ) -> Iterable[Exception | None]:
        """Do many writes; one outcome a write, in order. None of them stops the rest.

        Done one after the other, or, where order is no matter, over several connections.
        """
        if in_order or len(writes) < _MANY:
            return [self._attempt(write) for write in writes]
        # Here, because its import costs 5 ms, and most agents never write so much at once.
        from concurrent.futures import ThreadPoolExecutor

        for resource in {write.resource for write in writes}:
            self._place(resource)  # asked once, not on every connection
        outcomes: list[Exception | None] = [None] * len(writes)
        places = iter(range(len(writes)))  # whoever is free takes the next

        def work() -> None:
            other = HttpClient(self._connection, self.manager, None, self._timeout)
            other._places = self._places
            for place in places:
                outcomes[place] = other._attempt(writes[place])
            other.close()

        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            for done in [pool.submit(work) for _ in range(_CONNECTIONS)]:
                done.result()
        return outcomes

    def watch(
        self, resource: str, deliver: Deliver, *, namespace: str = "", field_selector: str = ""
    ) -> Callable[[], None]:
        """Deliver what exists (ADDED), SYNCED, then every change in order; returns how to stop."""
        if self._loop is None:
            raise TypeError("a client without a loop cannot watch")
        watch = HttpWatch(
            self._transport.dial,
            self._headers,
            self._transport.root + self.path(resource, Key(namespace, "")),
            {"fieldSelector": field_selector} if field_selector else {},
            deliver,
            self._loop,
        )
        watch.start()
        return watch.stop

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> tuple[int, bytes]:
        """Send one request as it stands; returns status and body.

        Raises:
            ClusterError: the server cannot be reached.
        """
        headers = self._headers() | {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = content_type
        target = f"{path}?{urlencode(query)}" if query else path
        return self._transport.carry(method, target, body, headers)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._transport.close()

    def path(self, resource: str, key: Key, subresource: str = "", *, write: bool = False) -> str:
        """Return the path of an object, or of a collection where the key has no name.

        A ``write`` without a namespace to a resource that has them goes to ``default``.
        """
        prefix, namespaced = self._place(resource)
        plural = resource.partition(".")[0]
        namespace = key.namespace or ("default" if write or key.name else "")
        parts = [prefix]
        if namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts += [part for part in (plural, quote(key.name, safe=""), subresource) if part]
        return "/".join(parts)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"{self.manager}/windtunnel"}
        token = self._connection.token if self._token_file is None else self._token_file.read()
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _written(self) -> dict[str, str]:
        return {"fieldManager": self.manager}

    def _attempt(self, write: Write) -> Exception | None:
        resource, key, body = write.resource, write.key, write.body
        try:
            match write.verb:
                case "create":
                    self.create(resource, body)
                case "update":
                    self.update(resource, body)
                case "update_status":
                    self.update_status(resource, body)
                case "patch":
                    self.patch(resource, key, body, strategic=self._strategic(resource))
                case "patch_status":
                    strategic = self._strategic(resource)
                    self.patch(resource, key, body, subresource="status", strategic=strategic)
                case "bind":
                    self.bind(key, body["target"]["name"])
                case "delete":
                    self._tree("DELETE", self.path(resource, key), body)
        except (ApiError, ClusterError) as error:
            return error
        return None

    def _strategic(self, resource: str) -> bool:
        # Built-in groups have no dot of their own, or end in k8s.io; only they merge strategically.
        group = resource.partition(".")[2].partition("/")[0]
        return "." not in group or group.endswith(".k8s.io")

    def _place(self, resource: str) -> tuple[str, bool]:
        """Return the path prefix of a resource, and whether it is namespaced, from discovery."""
        known = self._places.get(resource)
        if known is not None:
            return known
        rest = resource.partition(".")[2]
        group, _, version = rest.partition("/")
        if not group:
            prefix = "/api/v1"
        else:
            if not version:
                version = self._tree("GET", f"/apis/{group}")["preferredVersion"]["version"]
            prefix = f"/apis/{group}/{version}"
        status, body = self.ask("GET", prefix)
        if status != 200:
            raise refusal(decode(body))
        suffix = rest and f".{rest}"
        for name, namespaced in read_scopes(body).items():
            self._places[name + suffix] = (prefix, namespaced)
        if resource not in self._places:
            raise NotFound.resource()
        return self._places[resource]

    def _tree(
        self,
        method: str,
        path: str,
        tree: Tree | None = None,
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Tree:
        body = None if tree is None else encode(tree)
        status, answer = self.ask(method, path, body, query, content_type)
        try:
            found: Any = decode(answer)
        except ValueError:
            found = None
        if status >= 400:
            said = answer.decode(errors="replace")[:200]
            raise refusal(found if isinstance(found, dict) else {"message": said, "code": status})
        if not isinstance(found, dict) or not found.get("kind"):
            server = self._connection.server
            raise ClusterError(f"{server} answered {method} {path} with what is no object")
        return found
