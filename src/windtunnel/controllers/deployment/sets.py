"""The ReplicaSets of a Deployment: which is the newest, how a new one looks, what is noted on them.

A set is the newest when its template is the Deployment's, the hash label aside. The same template
gives the same hash, so going back to an earlier one finds its set again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from windtunnel.controllers.deployment.rollout import Share
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.ownership import owner_reference
from windtunnel.controllers.template_hash import template_hash
from windtunnel.controllers.views import ReplicaSetView, template_of
from windtunnel.machinery.tree import Tree

TEMPLATE_HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MAX: Final = "deployment.kubernetes.io/max-replicas"
_NOT_COPIED: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        HISTORY,
        DESIRED,
        MAX,
    }
)
_HISTORY_LENGTH: Final = 2000


def find_newest(
    deployment: DeploymentView, sets: Iterable[ReplicaSetView]
) -> ReplicaSetView | None:
    """Return the set of the Deployment's template; of several, the first (hand in the oldest)."""
    wanted = _bare(template_of(deployment.spec.template))
    for each in sets:
        if _bare(template_of(each.spec.template)) == wanted:
            return each
    return None


def share_of(view: ReplicaSetView) -> Share:
    """Return a set's part in a rollout, as it is now."""
    annotations = view.metadata.annotations
    return Share(
        view, view.spec.replicas, _number(annotations.get(DESIRED)), _number(annotations.get(MAX))
    )


def scale_notes(wanted: int, surge: int) -> dict[str, str]:
    """Return the annotations that say for which size a set was scaled."""
    return {DESIRED: str(wanted), MAX: str(wanted + surge)}


def revision_notes(
    deployment: DeploymentView, newest: ReplicaSetView, old: Sequence[ReplicaSetView]
) -> dict[str, str]:
    """Return the annotations an existing newest set lacks: copied ones and its revision."""
    have = newest.metadata.annotations
    notes = {key: value for key, value in _copied(deployment).items() if have.get(key) != value}
    present = have.get(REVISION, "")
    before = _number(present) if present else 0
    revision = next_revision(old)
    if before is None or before >= revision:
        return notes
    notes[REVISION] = str(revision)
    if present:
        notes[HISTORY] = _longer_history(have.get(HISTORY, ""), present)
    return notes


def new_set(
    deployment: DeploymentView, old: Sequence[ReplicaSetView], size: int, surge: int
) -> Tree:
    """Return the ReplicaSet for the Deployment's template."""
    template = template_of(deployment.spec.template)
    digest = template_hash(template, deployment.status.collision_count)
    metadata = template.setdefault("metadata", {})
    labels = {**(metadata.get("labels") or {}), TEMPLATE_HASH: digest}
    metadata["labels"] = labels
    selector: Tree = {
        "matchLabels": {**deployment.spec.selector.match_labels, TEMPLATE_HASH: digest}
    }
    if deployment.spec.selector.match_expressions:
        selector["matchExpressions"] = list(deployment.spec.selector.match_expressions)
    spec: Tree = {"replicas": size, "selector": selector, "template": template}
    if deployment.spec.min_ready_seconds:
        spec["minReadySeconds"] = deployment.spec.min_ready_seconds
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{deployment.metadata.name}-{digest}",
            "namespace": deployment.metadata.namespace,
            "labels": dict(labels),
            "annotations": {
                **_copied(deployment),
                REVISION: str(next_revision(old)),
                **scale_notes(deployment.spec.replicas, surge),
            },
            "ownerReferences": [owner_reference("apps/v1", "Deployment", deployment.metadata)],
        },
        "spec": spec,
    }


def same_template(left: Tree, right: Tree) -> bool:
    """Whether two pod templates are the same, the hash label aside; both are used up."""
    return _bare(left) == _bare(right)


def next_revision(old: Iterable[ReplicaSetView]) -> int:
    """Return one more than the largest revision among the old sets."""
    return 1 + max((revision_of(each) for each in old), default=0)


def revision_of(view: ReplicaSetView) -> int:
    """Return a set's revision; 0 for none."""
    return _number(view.metadata.annotations.get(REVISION)) or 0


def _copied(deployment: DeploymentView) -> dict[str, str]:
    annotations = deployment.metadata.annotations
    return {key: value for key, value in annotations.items() if key not in _NOT_COPIED}


def _longer_history(history: str, revision: str) -> str:
    revisions = [*filter(None, history.split(",")), revision]
    while len(",".join(revisions)) > _HISTORY_LENGTH:
        del revisions[0]
    return ",".join(revisions)


def _bare(template: Tree) -> Tree:
    labels = (template.get("metadata") or {}).get("labels")
    if labels:
        labels.pop(TEMPLATE_HASH, None)
    return template


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
