"""Patches: JSON, merge, strategic merge, and server-side apply."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.bodies import MalformedBody, read_json
from windtunnel.apiserver.forms.negotiation import patch_form
from windtunnel.apiserver.forms.nesting import is_too_deep
from windtunnel.apiserver.forms.options import write_options
from windtunnel.apiserver.forms.yaml_text import MalformedYaml, read_yaml
from windtunnel.apiserver.subresources.parts import Part
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.ownership import ignored
from windtunnel.apiserver.verbs.validation import (
    check_head,
    check_patched,
    default_applied,
    default_status,
    set_defaults,
    with_own_status,
)
from windtunnel.apiserver.verbs.writing import (
    Writing,
    Written,
    place,
    require_name,
    require_namespace,
)
from windtunnel.kinds import Kind
from windtunnel.machinery.apply import apply_patch
from windtunnel.machinery.errors import BadRequest, Conflict
from windtunnel.machinery.patches import json_patch, merge_patch, strategic_patch
from windtunnel.machinery.patches.refusals import DECODING, PatchFailed, go_text
from windtunnel.machinery.schema import duplicate_fields
from windtunnel.machinery.schema.decoding import type_text
from windtunnel.machinery.tree import Tree, decode

STATUS_FIELDS: Final = frozenset({"kind", "apiVersion", "metadata", "status"})
Shown = Callable[[], str]
"""Prints what an error shows of a patch."""
_sorted = msgspec.json.Encoder(order="sorted")


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


class Patching:
    """Answers PATCH."""

    def __init__(self, objects: Objects, writing: Writing) -> None:
        self._objects = objects
        self._writing = writing

    def patch(self, call: Call, subresource: str = "") -> Written:
        """Patch the object named in the path.

        Raises:
            ApiError: The patch is malformed, does not fit, or somebody refuses its result.
        """
        request = call.request
        form = patch_form(request.content_type, strategic=not call.kind.custom)
        options = write_options(request.query, "PatchOptions", apply=form == "apply")
        call.dry_run, call.validation = options.dry_run, options.validation
        if form == "apply":
            applied = read_applied(call)
            call.manager = options.manager
            return self.apply(
                call,
                applied,
                force=options.force,
                subresource=subresource,
                options=options.tree("PatchOptions"),
            )
        kind = call.kind
        change = self.change(form, kind, request.body)
        doubled = _doubled(call, form)
        of_status = subresource == "status" and not kind.custom
        shared = of_status and touches_status_only(form, request.body)

        def changed(old: Tree) -> Tree:
            new, shown = change(old)
            if shared:
                new = with_own_status(new)
            status_of = old if shared else None
            check_head(call, new, shown, strategic=form == "strategic")
            check_patched(
                call, new, shown, doubled=doubled, strategic=form == "strategic",
                status_of=status_of,
            )  # fmt: skip
            place_patched(call, new, new.get("metadata"))
            (default_status if shared else set_defaults)(kind, new)
            return new

        return self._writing.update(
            call,
            changed,
            options=options.tree("PatchOptions"),
            subresource=subresource,
            shared=shared,
        )

    def change(self, form: str, kind: Kind, body: bytes) -> Callable[[Tree], tuple[Tree, Shown]]:
        """Return how a patch changes an object, and what an error prints of the result.

        Raises:
            BadRequest: The patch is malformed.
        """
        try:
            patch = read_json(body)
        except MalformedBody as problem:
            before = "" if form == "strategic" else DECODING
            raise BadRequest(f"{before}{problem}") from None
        if form == "json":
            return partial(_merged, _json_patch, patch)
        if form == "merge":
            return partial(_merged, merge_patch, patch)
        structure = kind.structure()

        def strategic(old: Tree) -> tuple[Tree, Shown]:
            new = strategic_patch(old, decode(body), structure)
            return new, lambda: _quoted(go_text(patch))

        return strategic

    def apply(
        self,
        call: Call,
        applied: Tree,
        *,
        force: bool,
        subresource: str = "",
        options: Tree | None = None,
        part: Part | None = None,
    ) -> Written:
        """Apply a configuration as the request's manager; what is missing is created.

        Args:
            call: The request.
            applied: What the manager wants; consumed.
            force: Take fields from other managers.
            subresource: Of which part the configuration speaks.
            options: What webhooks see of the request's options.
            part: The rules of that part, where they are not the kind's own; its entries carry no
                time.

        Raises:
            ApiError: Fields belong to others, or somebody refuses.
        """
        kind = call.kind
        apply = partial(
            apply_patch,
            structure=kind.structure(),
            manager=call.manager,
            force=force,
            api_version=kind.api_version,
            subresource=subresource,
            now="" if part is not None else call.timestamp,
            ignore=ignored(kind, subresource),
        )
        if not subresource and self._objects.find(kind, call.key) is None:
            if uid := applied["metadata"].get("uid"):
                raise Conflict.of(
                    kind.plural,
                    kind.group,
                    call.route.name,
                    f"uid mismatch: the provided object specified uid {uid}, and no existing "
                    "object was found",
                )
            applied["metadata"].pop("resourceVersion", None)
            tree = apply(None, applied)
            tree["kind"], tree["apiVersion"] = kind.kind, kind.api_version
            default_applied(kind, tree)
            return self._writing.create(call, tree, options=options or {}, own=_owned_already)

        def changed(old: Tree) -> Tree:
            new = apply(old, applied)
            place_patched(call, new, new.get("metadata"))
            default_applied(kind, new)
            return new

        return self._writing.update(
            call,
            changed,
            options=options or {},
            subresource=subresource,
            part=part,
            own=_owned_already_update,
        )


def _doubled(call: Call, form: str) -> list[str]:
    """Return what is said of fields that a patch gives twice."""
    if call.validation == "Ignore" or call.trusted:
        return []
    body = call.request.body
    what = "json patch duplicate" if form == "json" else "duplicate"
    return [f'{what} field "{path}"' for path in duplicate_fields(body, decode(body))]


def touches_status_only(form: str, body: bytes) -> bool:
    """Whether a patch speaks of nothing but metadata and status."""
    if form not in ("merge", "strategic"):
        return False
    patch = decode(body)
    return isinstance(patch, dict) and patch.keys() <= STATUS_FIELDS


def _json_patch(tree: Tree, patch: Any) -> Any:
    """Apply a JSON patch, whose copies may nest deeper than any body."""
    new = json_patch(tree, patch)
    if is_too_deep(new):
        raise PatchFailed
    return new


def _merged(merge: Callable[[Tree, Any], Tree], patch: Any, old: Tree) -> tuple[Tree, Shown]:
    new = merge(old, patch)
    return new, lambda: _quoted(_sorted.encode(new).decode())


def _owned_already(_: Call, __: Tree) -> None:
    return None


def _owned_already_update(_: Call, __: Tree, ___: Tree, ____: str) -> None:
    return None


def place_patched(call: Call, new: Tree, metadata: Any) -> None:
    """Refuse a result that names another object than the path."""
    if isinstance(metadata, dict) or metadata is None:
        if metadata:
            place(call, new)
        require_name(call, new)


def read_applied(call: Call, wanted: Kind | None = None) -> Tree:
    """Return the configuration in an apply's body.

    Args:
        call: The request.
        wanted: What the body must be, where it is not the path's kind (``Scale``).

    Raises:
        BadRequest: It is no YAML, no object, or names another object.
    """
    kind = wanted or call.kind
    try:
        applied = read_yaml(call.request.body)
    except MalformedYaml as problem:
        raise BadRequest(f"error decoding YAML: error converting YAML to JSON: {problem}") from None
    if applied is None:
        applied = {}
    if not isinstance(applied, dict):
        why = type_text(applied, "map[string]interface {}")
        raise BadRequest(
            f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}"
        )
    given, version = _text(applied.get("kind")), _text(applied.get("apiVersion"))
    if not given or not version:
        group, _, short = version.rpartition("/")
        raise BadRequest(f"invalid object type: {group}/{short}, Kind={given}")
    if (given, version) != (kind.kind, kind.api_version):
        raise BadRequest(f"invalid object type: {_gvk(version, given)}")
    if not isinstance(applied.get("metadata"), dict):
        applied["metadata"] = {}
    if applied["metadata"].get("managedFields"):
        raise BadRequest("metadata.managedFields must be nil")
    require_namespace(call, applied["metadata"])
    require_name(call, applied)
    return applied


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _gvk(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"
