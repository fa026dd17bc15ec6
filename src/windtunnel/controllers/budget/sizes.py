"""How many pods the owners of some pods want.

Source: disruption controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from windtunnel.client import Client
from windtunnel.controllers.resources import Resources
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import OwnerReference, PodView
from windtunnel.machinery.tree import Key, dig


class NoScale(Exception):
    """A pod's owner is of a kind whose wanted number cannot be read."""


class Sizes:
    """Looks sizes up: where there is a cache in it, else through the scale subresource's owner."""

    def __init__(self, client: Client, sources: Sources, resources: Resources) -> None:
        self._client, self._sources, self._resources = client, sources, resources

    def wanted(self, pods: Sequence[PodView]) -> tuple[int, int]:
        """Return how many pods the owners want together, and how many pods have none.

        Raises:
            NoScale: An owner's kind has no size.
        """
        sizes: dict[str, int] = {}
        unmanaged = 0
        for pod in pods:
            owner = pod.metadata.controller
            if owner is None:
                unmanaged += 1
            elif owner.uid not in sizes:
                upper, size = self._size(pod.metadata.namespace, owner)
                sizes[owner.uid] = 0 if upper in sizes and upper != owner.uid else size
                sizes.setdefault(upper, 0)
        return sum(sizes.values()), unmanaged

    def _size(self, namespace: str, owner: OwnerReference) -> tuple[str, int]:
        """Return the uid of what decides the size, and the size.

        Raises:
            NoScale: The owner's kind has no size.
        """
        key = Key(namespace, owner.name)
        if (owner.kind, owner.group) == ("ReplicaSet", "apps"):
            replica_set = self._sources.replica_sets.get(key)
            if replica_set is None:
                return owner.uid, 0
            upper = replica_set.metadata.controller
            if upper is not None and (upper.kind, upper.group) == ("Deployment", "apps"):
                deployment = self._sources.deployments.get(Key(namespace, upper.name))
                return upper.uid, deployment.spec.replicas if deployment is not None else 0
            return owner.uid, replica_set.spec.replicas
        resource = self._resources.of_kind(owner.api_version, owner.kind)
        if resource is None:
            raise NoScale(f'no matches for kind "{owner.kind}"')
        if not resource.scalable:
            raise NoScale(f"{resource.name} does not implement the scale subresource")
        tree = self._client.get(resource.name, key)
        return owner.uid, int(dig(tree, "spec", "replicas") or 0)
