"""Installs the rendered chart: applies its objects and keeps the release as helm does.

One object a step, so that a cluster answers while its operator comes. What is there already is
left alone: a release of helm's own, and a namespace that says the operator was installed before,
so that who uninstalls it is not given it again. What runs in pods waits a while for the node that
is to run them: a scheduler without any node looks at them again only after a second or two, and one
with a thousand that are not ready yet looks again whenever one of them is.

Source: Helm 4: server-side apply as manager ``helm``, the marks on each object, and the Secret of
type ``helm.sh/release.v1`` that holds the release.
"""

from __future__ import annotations

import base64
import gzip
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec

from windtunnel.client import Client
from windtunnel.gpu.chart import NAMESPACE, RELEASE, RENDERED
from windtunnel.kernel import Loop, Ticket
from windtunnel.machinery.errors import AlreadyExists, ApiError
from windtunnel.machinery.timestamp import micro_time_text
from windtunnel.machinery.tree import Key, Tree, decode, dig, encode

DONE: Final = "windtunnel.dev/operator-installed"
"""The annotation of the namespace that says the operator has been installed once."""
_SECRET: Final = f"sh.helm.release.v1.{RELEASE}.v1"
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_WORKLOADS: Final = frozenset({"daemonsets.apps", "deployments.apps"})
_RETRY_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.03
_PATIENCE_SECONDS: Final = 15.0
"""How long the node is waited for."""

_Step = Callable[[], float]
"""Does one thing and returns 0, or returns after how many seconds it is to be called again."""


def _takes_pods(node: Tree | None) -> bool:
    """Say whether a node is there, and nobody says any more that it is not ready."""
    taints = dig(node, "spec", "taints") or []
    return node is not None and not any(taint["key"] == _NOT_READY for taint in taints)


class Rendered(msgspec.Struct, frozen=True):
    """What ``charts/render.py`` wrote."""

    release: dict[str, Any]
    objects: list[tuple[str, dict[str, Any]]]
    """(resource, object) in helm's order of installation."""


def read_rendered() -> Rendered:
    """Return the chart as it renders with the values of a fresh cluster."""
    return msgspec.json.decode(gzip.decompress(RENDERED.read_bytes()), type=Rendered)


def release_secret(release: dict[str, Any], now: float) -> Tree:
    """Return the Secret in which helm looks for a release that was deployed at ``now``."""
    when = micro_time_text(now)
    info = release["info"] | {
        "first_deployed": when,
        "last_deployed": when,
        "status": "deployed",
        "description": "Install complete",
    }
    packed = base64.b64encode(gzip.compress(encode(release | {"info": info}), 1, mtime=0))
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "helm.sh/release.v1",
        "metadata": {
            "name": _SECRET,
            "namespace": NAMESPACE,
            "labels": {
                "name": RELEASE,
                "owner": "helm",
                "status": "deployed",
                "version": "1",
                "modifiedAt": str(int(now)),
            },
        },
        "data": {"release": base64.b64encode(packed).decode()},
    }


def marked(tree: Tree) -> Tree:
    """Return an object with the marks by which helm knows it as the release's own."""
    if tree["kind"] == "CustomResourceDefinition":
        return tree
    metadata = dict(tree["metadata"])
    metadata["labels"] = {**(metadata.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm"}
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        "meta.helm.sh/release-name": RELEASE,
        "meta.helm.sh/release-namespace": NAMESPACE,
    }
    return {**tree, "metadata": metadata}


class Installation:
    """Installs the operator once, step by step; a part like any other.

    Args:
        client: Of the cluster.
        loop: Whose steps it takes.
        node: The node that is to run it; "" waits for none.
    """

    name = "operator-installation"

    def __init__(self, client: Client, loop: Loop, node: str = "") -> None:
        self._client, self._loop, self._node = client, loop, node
        self._todo: deque[_Step] = deque()
        self._until = 0.0
        self._ticket: Ticket | None = None

    def start(self) -> None:
        """Begin to install, unless that has been done before."""
        self._until = self._loop.clock.now() + _PATIENCE_SECONDS
        self._todo.append(self._plan)
        self._ticket = self._loop.call_soon(self._step)

    def stop(self) -> None:
        """Leave what is not installed yet to the next start."""
        self._todo.clear()
        if self._ticket is not None:
            self._ticket.cancel()

    def _step(self) -> None:
        if not self._todo:
            return
        try:
            wait = self._todo[0]()
            if not wait:
                self._todo.popleft()
        except ApiError as error:
            self._loop.report(self.name, RELEASE, error)
            wait = _RETRY_SECONDS
        self._ticket = self._loop.call_after(wait, self._step)

    def _plan(self) -> float:
        namespace = self._client.get("namespaces", Key("", NAMESPACE))
        if namespace is not None and dig(namespace, "metadata", "annotations", DONE):
            return 0
        releases = self._client.list("secrets", NAMESPACE, f"owner=helm,name={RELEASE}")
        if releases:
            return 0
        rendered = read_rendered()
        self._todo.append(self._provide_namespace)
        for resource, tree in rendered.objects:
            if resource in _WORKLOADS:
                self._todo.append(self._await_node)
            self._todo.append(self._applying(resource, marked(tree)))
        self._todo.append(lambda: self._keep(rendered.release))
        return 0

    def _provide_namespace(self) -> float:
        self._create("namespaces", {"metadata": {"name": NAMESPACE, "labels": {"name": NAMESPACE}}})
        return 0

    def _await_node(self) -> float:
        if not self._node or self._loop.clock.now() >= self._until:
            return 0
        return 0 if _takes_pods(self._client.get("nodes", Key("", self._node))) else _LOOK_SECONDS

    def _applying(self, resource: str, tree: Tree) -> _Step:
        def apply() -> float:
            # A copy: the API uses up what it is given, and this may have to be said again.
            self._client.apply(resource, decode(encode(tree)), manager="helm", force=True)
            return 0

        return apply

    def _keep(self, release: dict[str, Any]) -> float:
        self._create("secrets", release_secret(release, self._loop.clock.now()))
        done = {"metadata": {"annotations": {DONE: "true"}}}
        self._client.patch("namespaces", Key("", NAMESPACE), done)
        return 0

    def _create(self, resource: str, tree: Tree) -> None:
        try:
            self._client.create(resource, tree)
        except AlreadyExists:
            return
