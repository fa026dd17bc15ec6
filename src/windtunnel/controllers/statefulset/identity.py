"""Who the pods of a StatefulSet are: name, labels, place on the network, and claims.

Source: stateful-set utilities of Kubernetes v1.36.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.controllers.ownership import owner_reference
from windtunnel.controllers.pods import pod_from
from windtunnel.controllers.revisions import REVISION_HASH, RevisionView, template_in
from windtunnel.controllers.statefulset.views import StatefulSetView
from windtunnel.controllers.views import Metadata, PodView
from windtunnel.machinery.tree import Tree, decode

POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX: Final = "apps.kubernetes.io/pod-index"


def pod_name(stateful_set: StatefulSetView, ordinal: int) -> str:
    """Return the name of a pod by its number."""
    return f"{stateful_set.metadata.name}-{ordinal}"


def ordinal_of(stateful_set: StatefulSetView, name: str) -> int | None:
    """Return the number in a pod's name, or None for a name that is not one of the set's."""
    parent, dash, digits = name.rpartition("-")
    if not dash or parent != stateful_set.metadata.name:
        return None
    return int(digits) if digits.isascii() and digits.isdecimal() else None


def make_pod(stateful_set: StatefulSetView, revision: RevisionView, ordinal: int) -> Tree:
    """Return the pod of this number, of this revision."""
    owner = stateful_set.metadata
    reference = owner_reference("apps/v1", "StatefulSet", owner)
    name = pod_name(stateful_set, ordinal)
    pod = pod_from(template_in(revision), owner.namespace, f"{owner.name}-", reference)
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["name"] = name
    metadata["labels"] = {
        **metadata.get("labels", {}),
        **identity_labels(name, ordinal),
        REVISION_HASH: revision.metadata.name,
    }
    spec["hostname"] = name
    spec["subdomain"] = stateful_set.spec.service_name
    claims = {template: f"{template}-{name}" for template in claim_templates(stateful_set)}
    volumes = [
        {"name": volume, "persistentVolumeClaim": {"claimName": claim, "readOnly": False}}
        for volume, claim in claims.items()
    ]
    given = spec.get("volumes") or ()
    volumes += [volume for volume in given if volume.get("name") not in claims]
    if volumes:
        spec["volumes"] = volumes
    return pod


def identity_labels(name: str, ordinal: int) -> dict[str, str]:
    """Return the labels that say which pod of its set a pod is."""
    return {POD_NAME: name, POD_INDEX: str(ordinal)}


def missing_labels(pod: PodView, ordinal: int) -> dict[str, str]:
    """Return the identity labels that a pod has lost."""
    labels = pod.metadata.labels
    wanted = identity_labels(pod.metadata.name, ordinal)
    return {key: value for key, value in wanted.items() if labels.get(key) != value}


def claim_templates(stateful_set: StatefulSetView) -> dict[str, Tree]:
    """Return the claim templates by name, in the order in which they are written."""
    templates: dict[str, Tree] = {}
    for raw in stateful_set.spec.volume_claim_templates:
        tree: Tree = decode(bytes(raw))
        templates[tree["metadata"]["name"]] = tree
    return templates


def make_claims(stateful_set: StatefulSetView, ordinal: int) -> list[Tree]:
    """Return the claims of the pod of this number."""
    owner = stateful_set.metadata
    name = pod_name(stateful_set, ordinal)
    matched = stateful_set.spec.selector.match_labels
    references = claim_owners(stateful_set, None)
    claims: list[Tree] = []
    for template, tree in claim_templates(stateful_set).items():
        given = tree["metadata"]
        metadata: dict[str, Any] = {
            "name": f"{template}-{name}",
            "namespace": owner.namespace,
            "labels": {**(given.get("labels") or {}), **matched},
        }
        if given.get("annotations"):
            metadata["annotations"] = given["annotations"]
        if references:
            metadata["ownerReferences"] = references
        claims.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": metadata,
                "spec": tree.get("spec") or {},
            }
        )
    return claims


def claim_owners(stateful_set: StatefulSetView, surplus: Metadata | None) -> list[Tree]:
    """Return who a claim goes with: the set, its pod, or nobody.

    Args:
        stateful_set: The set, with its policy.
        surplus: The pod of the claim, if scaling down has made it superfluous.
    """
    policy = stateful_set.spec.persistent_volume_claim_retention_policy
    if surplus is not None and policy.when_scaled == "Delete":
        return [owner_reference("v1", "Pod", surplus)]
    if policy.when_deleted == "Delete":
        return [owner_reference("apps/v1", "StatefulSet", stateful_set.metadata)]
    return []
