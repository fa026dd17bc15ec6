"""Turns a request's body into an object whose shape is sound, warning of what it drops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.bodies import (
    cannot_handle,
    head_mistake,
    read_object,
    unconvertible,
    unregistered,
)
from windtunnel.apiserver.forms.negotiation import JSON, body_form
from windtunnel.kinds import Kind, builtin_kinds
from windtunnel.machinery.errors import BadRequest, InternalError, Invalid
from windtunnel.machinery.patches.refusals import PatchFailed
from windtunnel.machinery.schema import (
    Findings,
    conversion_mistake,
    decode_check,
    duplicate_fields,
    fill_custom_defaults,
    fill_defaults,
    prune,
    read_custom,
    settle_fields,
    texts_in_order,
    type_mistake,
)
from windtunnel.machinery.schema.decoding import unreadable
from windtunnel.machinery.tree import Tree, decode
from windtunnel.machinery.violations import Violation, invalid


def read_body(call: Call, kind: Kind | None = None) -> Tree:
    """Return the object in the request's body, checked against its shape.

    Args:
        call: The request; warnings go there.
        kind: What the body must be, where it is not the path's kind (``Scale``, ``Binding``).

    Raises:
        BadRequest: It is no such object, or strict validation finds unknown or repeated fields.
    """
    wanted = kind or call.kind
    request = call.request
    media = body_form(request.content_type)
    tree = read_object(wanted, media, request.body)
    doubled: Sequence[str] = ()
    if media == JSON and call.validation != "Ignore" and not call.trusted:
        doubled = duplicate_fields(request.body, tree)
    findings = drop_unknown(wanted, tree)
    if doubled:
        report(call, wanted, texts_in_order(request.body, doubled, findings.unknown))
    elif findings.unknown:
        report(call, wanted, findings.texts())
    return tree


def drop_unknown(kind: Kind, tree: Tree) -> Findings:
    """Drop fields that the kind does not have, and say which.

    Raises:
        BadRequest: A field is of the wrong type (custom kinds are judged later, by their schema).
    """
    read = read_custom if kind.custom else decode_check
    return read(kind.structure(), tree, kind=kind.kind, version=kind.version)


def report(call: Call, kind: Kind, findings: list[str]) -> None:
    """Refuse, warn of or ignore fields that were dropped, as the client wishes.

    Raises:
        BadRequest: It wishes to be refused.
    """
    if not findings or call.validation == "Ignore":
        return
    if call.validation == "Strict":
        raise cannot_handle(kind, "strict decoding error: " + ", ".join(findings))
    for finding in findings:
        call.warn(finding)


def default_applied(kind: Kind, tree: Tree) -> None:
    """Set the defaults of an object that server-side apply has made, in place."""
    if kind.custom:
        prune(kind.structure(), tree)
        fill_custom_defaults(kind.structure(), tree)
    set_defaults(kind, tree)


def set_defaults(kind: Kind, tree: Tree) -> None:
    """Set the kind's own defaults in an object whose shape has been checked, in place."""
    kind.rules.default(tree)


def settle(kind: Kind, tree: Tree) -> None:
    """Bring an object that was never decoded into the shape of a decoded one, in place."""
    if kind.custom:
        read_custom(kind.structure(), tree, kind=kind.kind, version=kind.version)
    else:
        fill_defaults(kind.structure(), tree)
    set_defaults(kind, tree)


def settle_patched(kind: Kind, tree: Tree, fields: Iterable[str]) -> None:
    """Settle and default an object of which a patch has changed no more than ``fields``, in place.

    The rest comes from the stored object, whose shape is known to be sound.
    """
    if kind.custom or not settle_fields(kind.structure(), tree, fields):
        settle(kind, tree)
    else:
        set_defaults(kind, tree)


def patched_badly(value: str, why: str) -> Invalid:
    """Return the refusal of a patch whose result is not sound."""
    shown = Violation("patch", "FieldValueInvalid", f"Invalid value: {value}: {why}")
    return Invalid("", "", "", [shown])


def with_own_status(tree: Tree) -> Tree:
    """Return an object whose metadata and status are its own, sharing all else with ``tree``."""
    own = dict(tree)
    for field in ("metadata", "status"):
        part = tree.get(field)
        if isinstance(part, dict):
            own[field] = dict(part)
    return own


def settle_status(kind: Kind, tree: Tree) -> None:
    """Bring a status that was never decoded into the shape of a decoded one, in place."""
    if kind.custom or settle_fields(kind.structure(), tree, ("status",)):
        return
    part = _status_part(tree)
    fill_defaults(kind.structure(), part)
    _take_status(tree, part)


def settle_written_status(kind: Kind, new: Tree, old: Tree) -> None:
    """Settle and default what a write to the status may change, in place.

    The rest comes from the stored object, whose shape is known to be sound; for a pod that is most
    of the work.
    """
    written = _written_fields(new, old)
    if not settle_fields(kind.structure(), new, written):
        part = _status_part(new)
        fill_defaults(kind.structure(), part)
        _take_status(new, part)
    default_status(kind, new)


def default_status(kind: Kind, tree: Tree) -> None:
    """Set the kind's own defaults in the status of an object whose other parts have them."""
    part = _status_part(tree)
    if "spec" in tree:
        part["spec"] = {}
    set_defaults(kind, part)
    _take_status(tree, part)


def _status_part(tree: Tree) -> Tree:
    """Return the part of an object that a write to its status can change."""
    return {
        field: tree[field]
        for field in ("kind", "apiVersion", "metadata", "status")
        if field in tree
    }


def _take_status(tree: Tree, part: Tree) -> None:
    for field in ("metadata", "status"):
        if field in part:
            tree[field] = part[field]
        else:
            tree.pop(field, None)


def _written_fields(new: Tree, old: Tree) -> tuple[str, ...]:
    return ("status",) if new.get("metadata") == old.get("metadata") else ("metadata", "status")


def check_head(call: Call, tree: Any, shown: Callable[[], str], *, strategic: bool = False) -> None:
    """Check that a patched object still says that it is of its kind; what it leaves out is set.

    Args:
        call: The request.
        tree: What the patch has made.
        shown: Makes what an error prints as the offending value.
        strategic: Whether it was a strategic merge: what it says of kind and version is no matter.

    Raises:
        ApiError: It says that it is something else, or nothing that can be understood.
    """
    kind = call.kind
    if tree is None or isinstance(tree, (str, int, float)):
        raise PatchFailed
    if not strategic:
        if mistake := head_mistake(tree):
            raise patched_badly(shown(), mistake)
        given, api_version = tree.get("kind") or "", tree.get("apiVersion") or ""
        if given != kind.kind or api_version != kind.api_version:
            judge = _judge_custom_head if kind.custom else _judge_head
            judge(call, given, api_version, shown)
    if strategic and not all(
        isinstance(tree.get(name, ""), str) for name in ("kind", "apiVersion")
    ):
        return  # of the wrong type, which is said with all other types
    tree["kind"], tree["apiVersion"] = kind.kind, kind.api_version


def _judge_head(call: Call, given: str, api_version: str, shown: Callable[[], str]) -> None:
    kind = call.kind
    if not api_version:
        # The real server reads it as its inner form then, which has no names of fields.
        raise nameless(call)
    if api_version.count("/") > 1:
        raise patched_badly(shown(), f"unexpected GroupVersion string: {api_version}")
    if given in ("", kind.kind) and api_version == kind.api_version:
        return
    if api_version == kind.api_version and (given, api_version) in _builtin():
        raise patched_badly(shown(), unconvertible(kind, kind.version, given))
    raise patched_badly(shown(), unregistered(given or kind.kind, api_version))


def _judge_custom_head(call: Call, given: str, api_version: str, shown: Callable[[], str]) -> None:
    kind, name = call.kind, call.route.name
    if not given:
        raise patched_badly(shown(), f"Object 'Kind' is missing in '{decode(shown())}'")
    if not api_version:
        why = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        raise InternalError(
            f"Internal error occurred: {why}", details={"causes": [{"message": why}]}
        )
    if api_version.count("/") > 1:
        raise patched_badly(shown(), f"unexpected GroupVersion string: {api_version}")
    found = []
    if given != kind.kind:
        found.append(invalid("kind", given, f"must be {kind.kind}"))
    if api_version != kind.api_version:
        found.append(invalid("apiVersion", api_version, f"must be {kind.api_version}"))
    raise Invalid(given, api_version.rpartition("/")[0], name, found)


@cache
def _builtin() -> frozenset[tuple[str, str]]:
    return frozenset((kind.kind, kind.api_version) for kind in builtin_kinds())


def nameless(call: Call) -> BadRequest:
    """Return the refusal of an object that does not say its name."""
    return BadRequest(
        f"the name of the object ({call.route.name} based on URL) was undeterminable: name must be "
        "provided"
    )


def _read_custom(kind: Kind, tree: Tree) -> Findings | str:
    """Return what was odd about a patched custom object, or why its metadata cannot be read."""
    try:
        return read_custom(kind.structure(), tree, kind=kind.kind, version=kind.version)
    except BadRequest as refusal:
        return refusal.message.removeprefix(unreadable(kind.kind, kind.version, ""))


def check_patched(
    call: Call,
    tree: Tree,
    shown: Callable[[], str],
    *,
    doubled: Sequence[str] = (),
    strategic: bool = False,
    status_of: Tree | None = None,
) -> None:
    """Check the shape of a patched object, in place.

    Args:
        call: The request; warnings go there.
        tree: The object after the patch.
        shown: Makes what an error prints as the offending value.
        doubled: What is said of fields that the patch gives twice.
        strategic: Whether it was a strategic merge, whose result is read by other means.
        status_of: The object before, where only status and metadata of the new one count; empty
            where it is gone.

    Raises:
        Invalid: A field is of the wrong type, or unknown or doubled under strict validation.
    """
    kind, structure = call.kind, call.kind.structure()
    texts = list(doubled)
    if status_of is None or not settle_fields(structure, tree, _written_fields(tree, status_of)):
        part = tree if status_of is None else _status_part(tree)
        found: Findings | str
        if kind.custom:
            found = _read_custom(kind, part)
        else:
            found = (conversion_mistake if strategic else type_mistake)(structure, part)
        if isinstance(found, str):
            raise patched_badly(shown(), found)
        if status_of is not None:
            _take_status(tree, part)
        texts += found.texts()
    if texts and call.validation == "Strict":
        raise patched_badly(shown(), "strict decoding error: " + ", ".join(texts))
    if call.validation == "Warn":
        for text in texts:
            call.warn(text)
