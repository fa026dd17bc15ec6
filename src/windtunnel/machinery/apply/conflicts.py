"""Refusals of server-side apply: fields of others, configurations of the wrong shape."""

from __future__ import annotations

from collections.abc import Mapping

from windtunnel.machinery.apply.elements import path_text
from windtunnel.machinery.apply.entries import Owner
from windtunnel.machinery.apply.fieldset import FieldSet, members
from windtunnel.machinery.errors import ApiError, Conflict
from windtunnel.machinery.tree import Tree, encode


def type_text(tree: Tree) -> str:
    """Print which kind an object says it is: ``apps/v1, Kind=Deployment``."""
    group, _, version = str(tree.get("apiVersion") or "").rpartition("/")
    return f"{group}/{version}, Kind={tree.get('kind') or ''}"


class MistypedPatch(ApiError):
    """The applied configuration does not fit the kind; the real server calls it its own error."""

    code, reason = 500, ""

    def __init__(self, applied: Tree, why: list[str]) -> None:
        text = why[0] if len(why) == 1 else "\n".join(["errors:", *(f"  {one}" for one in why)])
        super().__init__(f"failed to create typed patch object ({_object_text(applied)}): {text}")


class UnconvertiblePatch(ApiError):
    """What came of the applied configuration cannot be read as its kind."""

    code, reason = 500, ""

    def __init__(self, tree: Tree, why: str) -> None:
        super().__init__(
            f"failed to convert new object ({_object_text(tree)}) to proper version: unable to "
            f"convert unstructured object to {type_text(tree)}: {why}"
        )


def _object_text(tree: Tree) -> str:
    metadata = tree.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    return f"{name}; {type_text(tree)}"


def _owner_text(owner: Owner) -> str:
    text = encode(owner.manager).decode()
    if owner.subresource:
        text += f" with subresource {encode(owner.subresource).decode()}"
    return text if owner.applies else f"{text} using {owner.api_version}"


def conflict(contested: Mapping[Owner, FieldSet]) -> Conflict:
    """Return the refusal for fields that other managers own."""
    found = [
        (_owner_text(owner), path_text(path))
        for owner in sorted(contested)
        for path in members(contested[owner])
    ]
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": path}
        for owner, path in found
    ]
    if len(found) == 1:
        text = f"1 conflict: conflict with {found[0][0]}: {found[0][1]}"
    else:
        lines: list[str] = []
        for index, (owner, path) in enumerate(found):
            if index == 0 or found[index - 1][0] != owner:
                lines.append(f"conflicts with {owner}:")
            lines.append(f"- {path}")
        text = f"{len(found)} conflicts: " + "\n".join(lines)
    return Conflict(f"Apply failed with {text}", details={"causes": causes})
