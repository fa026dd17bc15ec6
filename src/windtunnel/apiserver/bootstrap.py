"""What exists on an empty server: namespaces, roles and bindings, classes, the API's own service.

Objects are written once; what an administrator changes afterwards stays changed.
"""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.mint import Mint
from windtunnel.apiserver.verbs.objects import Objects, shaped
from windtunnel.apiserver.verbs.validation import settle
from windtunnel.kernel import Clock
from windtunnel.kinds import Catalogue, Kind
from windtunnel.kinds.served import recorded
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, key_of

_LEFT_OUT: Final = frozenset(
    {
        "/api/v1/componentstatuses",  # made up on request, never stored
        "/api/v1/configmaps",
        "/apis/coordination.k8s.io/v1/leases",
        "/apis/networking.k8s.io/v1/ipaddresses",
    }
)
_FIRST: Final = "/api/v1/namespaces"


def bootstrap(objects: Objects, catalogue: Catalogue, clock: Clock, mint: Mint) -> None:
    """Write what is missing of the start-up objects."""
    recorded_objects = recorded.bootstrap()
    for path in sorted(recorded_objects, key=lambda path: path != _FIRST):
        if path in _LEFT_OUT:
            continue
        kind = _kind_at(catalogue, path)
        if kind is None:
            continue
        for tree in recorded_objects[path]:
            if objects.find(kind, key_of(tree)) is None:
                _write(objects, kind, tree, clock, mint)


def _kind_at(catalogue: Catalogue, path: str) -> Kind | None:
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        return catalogue.by_path("", parts[1], parts[2])
    return catalogue.by_path(parts[1], parts[2], parts[3])


def _write(objects: Objects, kind: Kind, tree: Tree, clock: Clock, mint: Mint) -> None:
    metadata = tree["metadata"]
    status = tree.get("status")
    settle(kind, tree)
    if status is not None:
        tree["status"] = status
    metadata = tree["metadata"]
    metadata["uid"], metadata["creationTimestamp"] = mint.uid(), time_text(clock.now())
    if kind.generation != "none":
        metadata["generation"] = 1
    key = Key(metadata.get("namespace") or "", metadata["name"])
    objects.put(kind, key, shaped(tree), 0)
