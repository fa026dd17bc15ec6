"""Writing the endpoint slices of one owner: what services and mirrors have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.client import Client
from windtunnel.controllers.endpoints.packing import Content, Packing
from windtunnel.controllers.pods import namespace_is_going
from windtunnel.machinery.errors import Forbidden, NotFound
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "endpointslices.discovery.k8s.io"
SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
HEADLESS: Final = "service.kubernetes.io/headless"
TRIGGER_TIME: Final = "endpoints.kubernetes.io/last-change-trigger-time"


def write(
    client: Client,
    packing: Packing,
    owner: Tree,
    key: Key,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> None:
    """Write what is to change; in a namespace that is going, nothing new.

    Args:
        client: Who writes.
        packing: What is to change.
        owner: The reference that slices get.
        key: The owner's.
        labels: The labels that slices have.
        annotations: Those that a slice has that is written now.
    """
    for content in packing.create:
        tree = _tree(content)
        tree["metadata"] = {
            "generateName": f"{key.name}-",
            "namespace": key.namespace,
            "labels": dict(labels),
            "annotations": dict(annotations),
            "ownerReferences": [dict(owner)],
        }
        try:
            client.create(RESOURCE, tree)
        except Forbidden as refusal:
            if not namespace_is_going(refusal):
                raise
    for present, content in packing.update:
        patch = _tree(content)
        patch["metadata"] = {
            "labels": _replaced(present.metadata.labels, labels),
            "annotations": _replaced(present.metadata.annotations, annotations),
        }
        try:
            client.patch(RESOURCE, Key(key.namespace, present.metadata.name), patch)
        except NotFound:
            continue
    for present in packing.delete:
        try:
            client.delete(
                RESOURCE, Key(key.namespace, present.metadata.name), uid=present.metadata.uid
            )
        except NotFound:
            continue


def _tree(content: Content) -> Tree:
    ports = None if content.ports is None else list(content.ports)
    return {
        "addressType": content.address_type,
        "endpoints": list(content.endpoints),
        "ports": ports,
    }


def _replaced(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Return the merge patch that leaves exactly ``after``."""
    gone: dict[str, str | None] = {name: None for name in before if name not in after}
    return {**gone, **after}
