"""What may change of a pod that exists: little by an update, sizes by a subresource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from windtunnel.kinds.pod.annotations import APP_ARMOR, MIRROR, validate_pod_annotations
from windtunnel.kinds.pod.requests import is_sidecar, qos_class
from windtunnel.kinds.pod.scheduling import REQUIRED, validate_tolerations
from windtunnel.kinds.pod.spec_validation import validate_whole_pod
from windtunnel.kinds.rules.checks import go_value
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden, invalid, required

_LARGEST_INT32: Final = 2**31 - 1
_UPDATABLE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_RESIZABLE: Final = ("cpu", "memory")
_NOWHERE: Final = "[]"
"""How the real server prints the path of a whole object."""


def changes(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield one line for each value that differs between two trees."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from changes(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changes(before, after, f"{path}[{index}]")
    elif old != new:
        yield f"- {path}: {old}"
        yield f"+ {path}: {new}"


def _annotation_changes(
    new: Mapping[str, str], old: Mapping[str, str], field: str
) -> list[Violation]:
    found: list[Violation] = []
    for key, value in old.items():
        if new.get(key) == value:
            continue
        if key.startswith(APP_ARMOR):
            text = "may not remove or update AppArmor annotations"
            found.append(forbidden(f"{field}[{key}]", text))
        if key == MIRROR:
            text = "may not remove or update mirror pod annotation"
            found.append(forbidden(f"{field}[{key}]", text))
    for key in new:
        if key in old:
            continue
        if key.startswith(APP_ARMOR):
            found.append(forbidden(f"{field}[{key}]", "may not add AppArmor annotations"))
        if key == MIRROR:
            found.append(forbidden(f"{field}[{key}]", "may not add mirror pod annotation"))
    return found


def validate_annotation_updates(new: Tree, old: Tree) -> list[Violation]:
    """Judge annotations that mean something to pods and may not change."""
    ours = dig(new, "metadata", "annotations") or {}
    found = _annotation_changes(
        ours, dig(old, "metadata", "annotations") or {}, "metadata.annotations"
    )
    return found + validate_pod_annotations(ours, new.get("spec") or {})


def _images(new: Sequence[Tree], old: Sequence[Tree], field: str) -> tuple[list[Violation], bool]:
    if len(new) != len(old):
        return [forbidden(field, "pod updates may not add or remove containers")], True
    found: list[Violation] = []
    for index, container in enumerate(new):
        image, where = container.get("image", ""), f"{field}[{index}].image"
        if not image:
            found.append(required(where))
        if image.strip() != image:
            text = "must not have leading or trailing whitespace"
            found.append(invalid(where, image, text))
    return found, False


def validate_pod_update(new: Tree, old: Tree) -> list[Violation]:
    """Judge a changed pod: images, deadline, gates and tolerations may move one way, no more."""
    found = validate_whole_pod(new)
    found += validate_annotation_updates(new, old)
    ours, theirs = new.get("spec") or {}, old.get("spec") or {}
    for key in ("containers", "initContainers"):
        wrong, stop = _images(ours.get(key) or (), theirs.get(key) or (), f"spec.{key}")
        found += wrong
        if stop:
            return found
    wrong, stop = _deadline(ours, theirs)
    found += wrong
    if stop:
        return found
    found += _tolerations(ours.get("tolerations") or (), theirs.get("tolerations") or ())
    found += _gates(ours.get("schedulingGates") or (), theirs.get("schedulingGates") or ())
    if ours == theirs:
        return found
    return found + _rest(ours, theirs)


def _deadline(new: Tree, old: Tree) -> tuple[list[Violation], bool]:
    ours, theirs = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    field = "spec.activeDeadlineSeconds"
    if ours is None:
        if theirs is None:
            return [], False
        text = "must not update from a positive integer to nil value"
        return [invalid(field, None, text)], False
    if not 0 <= ours <= _LARGEST_INT32:
        return [invalid(field, ours, names.not_between(0, _LARGEST_INT32))], True
    if theirs is not None and theirs < ours:
        return [invalid(field, ours, "must be less than or equal to previous value")], True
    return [], False


def _tolerations(new: Sequence[Tree], old: Sequence[Tree]) -> list[Violation]:
    def without_seconds(toleration: Tree) -> Tree:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [without_seconds(toleration) for toleration in new]
    for toleration in old:
        if without_seconds(toleration) not in kept:
            text = "existing toleration can not be modified except its tolerationSeconds"
            return [forbidden("spec.tolerations", text)]
    return validate_tolerations(new, "spec.tolerations")


def _gates(new: Sequence[Tree], old: Sequence[Tree]) -> list[Violation]:
    known = {gate.get("name", "") for gate in old}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
        )
        for index, gate in enumerate(new)
        if gate.get("name", "") not in known
    ]


def _rest(new: Tree, old: Tree) -> list[Violation]:
    """Judge what is left when everything that may change is taken from the old spec."""
    found: list[Violation] = []
    kept = dict(new)
    for key in ("containers", "initContainers"):
        if key in kept:
            kept[key] = [
                {**ours, "image": theirs.get("image", "")}
                for ours, theirs in zip(new[key], old.get(key) or (), strict=True)
            ]
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _take(kept, old, key)
    grace = "terminationGracePeriodSeconds"
    if (old.get(grace) or 0) < 0 and kept.get(grace) == 1:
        kept[grace] = old[grace]
    if old.get("schedulingGates"):
        found += _while_gated(kept, old)
    if kept != old:
        lines = "\n".join(changes(old, kept))
        found.append(forbidden("spec", f"{_UPDATABLE}\n{lines}"))
    return found


def _take(tree: Tree, old: Tree, key: str) -> None:
    if key in old:
        tree[key] = old[key]
    else:
        tree.pop(key, None)


def _while_gated(kept: Tree, old: Tree) -> list[Violation]:
    """Judge what a gated pod may add: it may only be narrowed."""
    found: list[Violation] = []
    ours, theirs = kept.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if ours != theirs:
        if any(ours.get(key) != value for key, value in theirs.items()):
            text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            found.append(invalid("spec.nodeSelector", dict(sorted(ours.items())), text))
        _take(kept, old, "nodeSelector")
    new_node, old_node = dig(kept, "affinity", "nodeAffinity"), dig(old, "affinity", "nodeAffinity")
    if new_node != old_node:
        found += _narrowed_affinity(new_node, old_node, "spec.affinity.nodeAffinity")
        affinity = {
            key: value
            for key, value in (kept.get("affinity") or {}).items()
            if key != "nodeAffinity"
        }
        if old_node is not None:
            affinity["nodeAffinity"] = old_node
        if affinity or "affinity" in old:
            kept["affinity"] = affinity
        else:
            kept.pop("affinity", None)
    return found


def _narrowed_affinity(new: Tree | None, old: Tree | None, field: str) -> list[Violation]:
    where = f"{field}.{REQUIRED}.nodeSelectorTerms"
    before = dig(old, REQUIRED, "nodeSelectorTerms") or []
    after = dig(new, REQUIRED, "nodeSelectorTerms") or []
    if not before:
        return []
    if len(before) != len(after):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(where, go_value(after) or None, text)]
    text = "only additions are allowed (no mutations or deletions)"
    return [
        invalid(f"{where}[{index}]", go_value(ours), text)
        for index, (ours, theirs) in enumerate(zip(after, before, strict=True))
        if not _only_adds(ours, theirs)
    ]


def _only_adds(new: Tree, old: Tree) -> bool:
    parts = ("matchExpressions", "matchFields")
    if not any(old.get(part) for part in parts):
        return not any(new.get(part) for part in parts)
    return all(
        (new.get(part) or [])[: len(old.get(part) or [])] == (old.get(part) or []) for part in parts
    )


def validate_ephemeral_update(new: Tree, old: Tree) -> list[Violation]:
    """Judge a write to ``ephemeralcontainers``: they are added, never changed or removed."""
    if MIRROR in (dig(old, "metadata", "annotations") or {}):
        return [forbidden(_NOWHERE, "static pods do not support ephemeral containers")]
    found = validate_whole_pod(new)
    found += validate_annotation_updates(new, old)
    field = "spec.ephemeralContainers"
    ours = {each.get("name"): each for each in dig(new, "spec", "ephemeralContainers") or ()}
    for before in dig(old, "spec", "ephemeralContainers") or ():
        name = before.get("name", "")
        after = ours.get(name)
        if after is None:
            text = f'existing ephemeral containers "{name}" may not be removed\n'
            found.append(forbidden(field, text))
        elif after != before:
            lines = "\n".join(changes(before, after))
            text = f'existing ephemeral containers "{name}" may not be changed\n{lines}'
            found.append(forbidden(field, text))
    return found


def validate_resize(new: Tree, old: Tree) -> list[Violation]:
    """Judge a write to ``resize``: only cpu and memory move, and the QoS class stays."""
    if MIRROR in (dig(old, "metadata", "annotations") or {}):
        return [forbidden(_NOWHERE, "static pods cannot be resized")]
    if dig(old, "spec", "os", "name") == "windows":
        return [forbidden(_NOWHERE, "windows pods cannot be resized")]
    found = validate_whole_pod(new)
    ours, theirs = new.get("spec") or {}, old.get("spec") or {}
    if (dig(old, "status", "qosClass") or qos_class(theirs)) != qos_class(ours):
        text = "Pod QOS Class may not change as a result of resizing"
        found.append(invalid("spec", dig(new, "status", "qosClass") or "", text))
    if not _can_resize(old):
        found.append(forbidden("spec", "Pod running on node without support for resize"))
    found += _pod_level_resize(ours, theirs)
    order = _same_order(ours, theirs)
    if order:
        return found + order
    for key in ("initContainers", "containers"):
        pairs = zip(ours.get(key) or (), theirs.get(key) or (), strict=True)
        for index, (after, before) in enumerate(pairs):
            found += _removed(after, before, f"spec.{key}[{index}].resources")
    found += _only_sizes(ours, theirs)
    return found


def _can_resize(pod: Tree) -> bool:
    for status in dig(pod, "status", "containerStatuses") or ():
        if dig(status, "state", "running") is not None:
            return status.get("resources") is not None
    return True


def _pod_level_resize(new: Tree, old: Tree) -> list[Violation]:
    ours, theirs = new.get("resources"), old.get("resources")
    if theirs is None:
        return []
    if ours is None:
        return [forbidden("spec.resources", "pod-level resources cannot be removed")]
    return [
        forbidden(f"spec.resources.{part}", f"pod-level resource {part} cannot be removed")
        for part in ("requests", "limits")
        if set(theirs.get(part) or ()) - set(ours.get(part) or ())
    ]


def _same_order(new: Tree, old: Tree) -> list[Violation]:
    found: list[Violation] = []
    for key in ("containers", "initContainers"):
        ours, theirs = new.get(key) or (), old.get(key) or ()
        if len(ours) != len(theirs):
            text = f"{key} may not be added or removed on resize"
            found.append(forbidden(f"spec.{key}", text))
            continue
        for index, (after, before) in enumerate(zip(ours, theirs, strict=True)):
            if after.get("name") != before.get("name"):
                text = f"{key} may not be renamed or reordered on resize"
                found.append(forbidden(f"spec.{key}[{index}].name", text))
    return found


def _removed(new: Tree, old: Tree, field: str) -> list[Violation]:
    return [
        forbidden(f"{field}.{part}", f"resource {part} cannot be removed")
        for part in ("requests", "limits")
        if set(dig(old, "resources", part) or ()) - set(dig(new, "resources", part) or ())
    ]


def _without_sizes(container: Tree) -> Tree:
    resources = container.get("resources") or {}
    fixed = {
        part: {
            name: value
            for name, value in (resources.get(part) or {}).items()
            if name not in _RESIZABLE
        }
        for part in ("requests", "limits")
    }
    return {**container, "resources": {**fixed, "claims": resources.get("claims") or []}}


def _only_sizes(new: Tree, old: Tree) -> list[Violation]:
    found: list[Violation] = []
    for after, before in zip(new.get("containers") or (), old.get("containers") or (), strict=True):
        if _without_sizes(after) != _without_sizes(before):
            found.append(forbidden("spec", "only cpu and memory resources are mutable"))
    pairs = zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=True)
    for index, (after, before) in enumerate(pairs):
        where = f"spec.initContainers[{index}]"
        if _without_sizes(after) != _without_sizes(before):
            text = "only cpu and memory resources for init or sidecar containers are mutable"
            found.append(forbidden(where, text))
        restarts = any(
            policy.get("restartPolicy") == "RestartContainer"
            for policy in after.get("resizePolicy") or ()
        )
        if after != before and not is_sidecar(after) and restarts:
            text = (
                "non-sidecar init containers with a resize policy of RestartContainer cannot be"
                " resized"
            )
            found.append(forbidden(where, text))
    same = ("containers", "initContainers", "resources")
    rest_of_new = {key: value for key, value in new.items() if key not in same}
    rest_of_old = {key: value for key, value in old.items() if key not in same}
    if not found and rest_of_new != rest_of_old:
        found.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return found
