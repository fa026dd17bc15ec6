"""Metadata of objects: what may be written there, judged once for every kind.

The API server calls ``validate_metadata_create`` or ``validate_metadata_update`` before a kind's
own rules, so that no kind repeats them. Kinds use the parts for the metadata inside templates.
Source: k8s.io/apimachinery v1.36, object metadata; finalizer names: kube-apiserver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    required,
    too_long,
)

ANNOTATION_BYTES: Final = 256 * 1024
_STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_LENIENT_GROUPS: Final = frozenset({
    "apiextensions.k8s.io", "apiregistration.k8s.io", "admissionregistration.k8s.io",
})  # fmt: skip
"""Groups whose finalizers, like those of custom resources, need no domain."""
_IMMUTABLE: Final = "field is immutable"


def validate_labels(labels: Mapping[str, str] | None, field: str) -> list[Violation]:
    """Judge keys and values of labels."""
    if not labels or names.first_bad_label(labels) is None:
        return []
    found: list[Violation] = []
    for key, value in labels.items():
        found += [invalid(field, key, text) for text in names.label_key(key)]
        found += [invalid(field, value, text) for text in names.label_value(value)]
    return found


def validate_annotations(annotations: Mapping[str, str] | None, field: str) -> list[Violation]:
    """Judge keys of annotations, in any case of letters, and their size altogether."""
    if not annotations:
        return []
    found: list[Violation] = []
    size = 0
    for key, value in annotations.items():
        size += len(key) + len(value)
        found += [invalid(field, key, text) for text in names.label_key(key.lower())]
    if size > ANNOTATION_BYTES // 4:
        size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
        if size > ANNOTATION_BYTES:
            found.append(too_long(field, ANNOTATION_BYTES))
    return found


def validate_owners(owners: Sequence[Tree] | None, field: str) -> list[Violation]:
    """Judge ownerReferences: complete, no events, one controller at most."""
    found: list[Violation] = []
    controller = ""
    for owner in owners or ():
        api_version, kind = owner.get("apiVersion", ""), owner.get("kind", "")
        if not api_version.rpartition("/")[2]:
            found.append(invalid(f"{field}.apiVersion", api_version, "version must not be empty"))
        for part in ("kind", "name", "uid"):
            if not owner.get(part):
                found.append(invalid(f"{field}.{part}", "", "must not be empty"))
        if (api_version, kind) == ("v1", "Event"):
            text = "/v1, Kind=Event is disallowed from being an owner"
            found.append(invalid(field, owner, text))
        if owner.get("controller"):
            name = f"{kind}/{owner.get('name', '')}"
            if controller:
                text = (
                    "Only one reference can have Controller set to true."
                    f' Found "true" in references for {controller} and {name}'
                )
                found.append(invalid(field, list(owners or ()), text))
            else:
                controller = name
    return found


def validate_finalizers(finalizers: Sequence[str] | None, field: str) -> list[Violation]:
    """Judge the names of finalizers, and that two of them do not contradict each other."""
    if not finalizers:
        return []
    found: list[Violation] = []
    for finalizer in finalizers:
        found += [invalid(field, finalizer, text) for text in names.label_key(finalizer)]
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        found.append(invalid(field, list(finalizers), text))
    return found


def validate_finalizer_names(finalizers: Sequence[str] | None, field: str) -> list[Violation]:
    """Judge that each finalizer is a standard one or belongs to a domain."""
    text = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(f"{field}[{index}]", finalizer, text)
        for index, finalizer in enumerate(finalizers or ())
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS
    ]


def validate_metadata_create(tree: Tree, kind: Kind) -> list[Violation]:
    """Judge the metadata of an object that is about to be created; its name has been made."""
    metadata = tree.get("metadata") or {}
    found = _whole(metadata, kind.namespaced, kind.name_rule or names.dns_subdomain)
    return found + _finalizer_names(metadata, kind)


def _whole(metadata: Tree, namespaced: bool, rule: names.NameRule) -> list[Violation]:
    found: list[Violation] = []
    if prefix := metadata.get("generateName"):
        texts = names.generated(rule)(prefix)
        found += [invalid("metadata.generateName", prefix, text) for text in texts]
    if name := metadata.get("name"):
        found += [invalid("metadata.name", name, text) for text in rule(name)]
    else:
        found.append(required("metadata.name", "name or generateName is required"))
    found += _namespace(metadata.get("namespace", ""), namespaced)
    found += _common(metadata)
    return found + validate_finalizers(metadata.get("finalizers"), "metadata.finalizers")


def _finalizer_names(metadata: Tree, kind: Kind) -> list[Violation]:
    finalizers = metadata.get("finalizers")
    if not finalizers or kind.custom or kind.group in _LENIENT_GROUPS:
        return []
    return validate_finalizer_names(finalizers, "metadata.finalizers")


def _namespace(namespace: str, namespaced: bool) -> list[Violation]:
    if not namespaced:
        where = "metadata.namespace"
        return [forbidden(where, "not allowed on this type")] if namespace else []
    if not namespace:
        return [required("metadata.namespace")]
    return [invalid("metadata.namespace", namespace, text) for text in names.dns_label(namespace)]


def _common(metadata: Tree) -> list[Violation]:
    found = validate_labels(metadata.get("labels"), "metadata.labels")
    found += validate_annotations(metadata.get("annotations"), "metadata.annotations")
    if owners := metadata.get("ownerReferences"):
        found += validate_owners(owners, "metadata.ownerReferences")
    return found


def validate_metadata_update(new: Tree, old: Tree, kind: Kind) -> list[Violation]:
    """Judge changed metadata as often as the real server does; each time finds the same."""
    ours, theirs = new.get("metadata") or {}, old.get("metadata") or {}
    changed = _changed(ours, theirs)
    found = _whole(ours, kind.namespaced, names.path_segment) + changed
    updates, wholes = kind.metadata_judged
    own = _finalizer_names(ours, kind)
    if not found and not own:
        return []
    found += (changed + own) * updates
    if wholes:
        found += validate_metadata_create(new, kind) * wholes
    return found


def _changed(ours: Tree, theirs: Tree) -> list[Violation]:
    """Judge what may never change, and what is new."""
    found: list[Violation] = []
    if theirs.get("deletionTimestamp"):
        known = frozenset(theirs.get("finalizers") or ())
        extra = sorted({each for each in ours.get("finalizers") or () if each not in known})
        if extra:
            listed = ", ".join(f'"{finalizer}"' for finalizer in extra)
            text = (
                "no new finalizers can be added if the object is being deleted, found new"
                f" finalizers []string{{{listed}}}"
            )
            found.append(forbidden("metadata.finalizers", text))
    if not ours.get("resourceVersion"):
        text = "must be specified for an update"
        found.append(invalid("metadata.resourceVersion", "", text))
    if (ours.get("generation") or 0) < (theirs.get("generation") or 0):
        text = "must not be decremented"
        found.append(invalid("metadata.generation", ours.get("generation") or 0, text))
    for part in ("name", "namespace", "uid"):
        if (ours.get(part) or "") != (theirs.get(part) or ""):
            found.append(invalid(f"metadata.{part}", ours.get(part) or "", _IMMUTABLE))
    for part in ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if ours.get(part) != theirs.get(part):
            found.append(invalid(f"metadata.{part}", ours.get(part), _IMMUTABLE))
    return found + _common(ours)


def validate_template_metadata(metadata: Tree, field: str) -> list[Violation]:
    """Judge metadata of a template of which only labels and annotations are used."""
    found = validate_annotations(metadata.get("annotations"), f"{field}.annotations")
    found += validate_labels(metadata.get("labels"), f"{field}.labels")
    for part, value in metadata.items():
        if part not in ("labels", "annotations", "creationTimestamp") and value:
            found.append(forbidden(f"{field}.{part}", "cannot be set"))
    return found
