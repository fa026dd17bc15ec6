"""From kubectl's client-side apply to server-side apply, and back.

Client-side apply keeps what it sent in an annotation. When kubectl turns to server-side apply, it
may take over the fields that it set before, and the annotation is kept up to date for the way back.

Source: k8s.io/apimachinery managedfields, v1.36.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from windtunnel.machinery.apply.entries import Owner
from windtunnel.machinery.apply.fieldset import FieldSet, difference
from windtunnel.machinery.apply.typed import field_set, mistakes
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.tree import Tree, decode

ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"
_LONGEST: Final = 256 * 1024
"""Bytes that all annotations of an object may have; a longer configuration is not kept."""


def _annotation(tree: Tree) -> str | None:
    annotations = (tree.get("metadata") or {}).get("annotations") or {}
    text: str | None = annotations.get(ANNOTATION)
    return text


def still_contested(
    contested: Mapping[Owner, FieldSet], live: Tree, structure: Structure
) -> dict[Owner, FieldSet]:
    """Return the contested fields that the last client-side apply did not set."""
    text = _annotation(live)
    if text is None:
        return dict(contested)
    try:
        last = decode(text)
    except ValueError:
        return dict(contested)
    if not isinstance(last, dict) or any(mistakes(structure, last)):
        return dict(contested)
    allowed = field_set(structure, last)
    rest = {owner: difference(fields, allowed) for owner, fields in contested.items()}
    return {owner: fields for owner, fields in rest.items() if fields}


def renew(tree: Tree, applied: Tree) -> None:
    """Keep the annotation, where there is one, equal to what was applied."""
    if _annotation(tree) is None:
        return
    configuration = dict(applied)
    metadata = dict(configuration.get("metadata") or {})
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(ANNOTATION, None)
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    configuration["metadata"] = metadata
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if len(text) < _LONGEST:
        tree["metadata"]["annotations"][ANNOTATION] = text + "\n"
