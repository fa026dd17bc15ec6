"""Installs the rendered chart: applies its objects and keeps the release as helm does.

One object a step, so that a cluster answers while its operator comes. What is there already is
left alone: a release of helm's own, and a namespace that says the operator was installed before,
so that who uninstalls it is not given it again.

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
_RETRY_SECONDS: Final = 1.0


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
    """Installs the operator once, step by step; a part like any other."""

    name = "operator-installation"

    def __init__(self, client: Client, loop: Loop) -> None:
        self._client, self._loop = client, loop
        self._todo: deque[Callable[[], None]] = deque()
        self._ticket: Ticket | None = None

    def start(self) -> None:
        """Begin to install, unless that has been done before."""
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
        wait = 0.0
        try:
            self._todo[0]()
            self._todo.popleft()
        except ApiError as error:
            self._loop.report(self.name, RELEASE, error)
            wait = _RETRY_SECONDS
        self._ticket = self._loop.call_after(wait, self._step)

    def _plan(self) -> None:
        namespace = self._client.get("namespaces", Key("", NAMESPACE))
        if namespace is not None and dig(namespace, "metadata", "annotations", DONE):
            return
        releases = self._client.list("secrets", NAMESPACE, f"owner=helm,name={RELEASE}")
        if releases:
            return
        rendered = read_rendered()
        self._todo.append(self._provide_namespace)
        for resource, tree in rendered.objects:
            self._todo.append(self._applying(resource, marked(tree)))
        self._todo.append(lambda: self._keep(rendered.release))

    def _provide_namespace(self) -> None:
        self._create("namespaces", {"metadata": {"name": NAMESPACE, "labels": {"name": NAMESPACE}}})

    def _applying(self, resource: str, tree: Tree) -> Callable[[], None]:
        def apply() -> None:
            # A copy: the API uses up what it is given, and this may have to be said again.
            self._client.apply(resource, decode(encode(tree)), manager="helm", force=True)

        return apply

    def _keep(self, release: dict[str, Any]) -> None:
        self._create("secrets", release_secret(release, self._loop.clock.now()))
        done = {"metadata": {"annotations": {DONE: "true"}}}
        self._client.patch("namespaces", Key("", NAMESPACE), done)

    def _create(self, resource: str, tree: Tree) -> None:
        try:
            self._client.create(resource, tree)
        except AlreadyExists:
            return
