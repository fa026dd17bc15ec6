"""Options of a request: read from its query, checked with the real server's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from windtunnel.apiserver.routes import truth
from windtunnel.machinery.errors import BadRequest, InternalError, Invalid
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

META: Final = "meta.k8s.io"
_VALIDATIONS: Final = ("", "Ignore", "Strict", "Warn")
_PROPAGATIONS: Final = ("Foreground", "Background", "Orphan")
_MANAGER_LIMIT: Final = 128
Query = Sequence[tuple[str, str]]

OptionsKind = Literal["CreateOptions", "UpdateOptions", "PatchOptions"]


def refused(kind: str, violations: list[Violation]) -> Invalid:
    """Return the error for options that break rules."""
    return Invalid(kind, META, "", violations)


def whole(text: str) -> int:
    """Read an integer parameter.

    Raises:
        BadRequest: It is none.
    """
    try:
        return int(text)
    except ValueError:
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


class RevisionUnreadable(InternalError):
    """A resourceVersion is not a number (the real server answers 500 without a reason)."""

    reason = ""


def revision(text: str) -> int:
    """Read a resourceVersion parameter; "" is 0.

    Raises:
        RevisionUnreadable: It is no number.
    """
    if not text:
        return 0
    mistake = ""
    digits = text.lstrip("0") or "0"
    if not text.isascii() or not text.isdigit():
        mistake = "invalid syntax"
    elif len(digits) > 20 or int(digits) >= 2**64:
        mistake = "value out of range"
    if mistake:
        why = f'strconv.ParseUint: parsing "{text}": {mistake}'
        raise RevisionUnreadable(str(invalid("resourceVersion", text, why)))
    return int(digits)


def _dry_run_violations(values: list[str]) -> list[Violation]:
    unknown = [value for value in values if value != "All"]
    return [not_supported("dryRun", values, ["All"])] if unknown else []


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a create, update or patch may say beside its body."""

    dry_run: bool = False
    manager: str = ""
    validation: str = "Warn"
    force: bool = False

    def tree(self, kind: OptionsKind) -> Tree:
        """Return the options as webhooks see them."""
        options: Tree = {"kind": kind, "apiVersion": f"{META}/v1"}
        if self.dry_run:
            options["dryRun"] = ["All"]
        if self.manager:
            options["fieldManager"] = self.manager
        if self.validation != "Warn":
            options["fieldValidation"] = self.validation
        return options


NO_OPTIONS: Final = WriteOptions()


def write_options(query: Query, kind: OptionsKind, *, apply: bool = False) -> WriteOptions:
    """Read the options of a write.

    Args:
        query: The request's parameters.
        kind: Which options, for the error.
        apply: Whether the write is a server-side apply, which must name its manager.

    Raises:
        Invalid: Some break rules.
    """
    if not query and not apply:
        return NO_OPTIONS
    dry_run = [value for key, value in query if key == "dryRun"]
    one = dict(reversed(query))
    manager = one.get("fieldManager", "")
    validation = one.get("fieldValidation", "")
    force = one.get("force")
    violations = []
    if kind == "PatchOptions":
        if not apply and force is not None:
            violations.append(forbidden("force", "may not be specified for non-apply patch"))
        if apply and not manager:
            violations.append(required("fieldManager", "is required for apply patch"))
    violations += _manager_violations(manager)
    violations += _dry_run_violations(dry_run)
    if validation not in _VALIDATIONS:
        violations.append(not_supported("fieldValidation", validation, list(_VALIDATIONS)))
    if violations:
        raise refused(kind, violations)
    return WriteOptions(bool(dry_run), manager, validation or "Warn", truth(force or ""))


def _manager_violations(manager: str) -> list[Violation]:
    if len(manager.encode()) > _MANAGER_LIMIT:
        return [
            Violation(
                "fieldManager",
                "FieldValueTooLong",
                f"Too long: may not be more than {_MANAGER_LIMIT} bytes",
            )
        ]
    if not manager.isprintable():
        return [invalid("fieldManager", manager, "should only contain printable characters")]
    return []


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What a list, watch or deletecollection asks for."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    token: str = ""
    """The ``continue`` of the page before."""
    resource_version: str = ""
    match: str = ""
    """resourceVersionMatch"""
    bookmarks: bool = False
    initial_events: bool | None = None
    timeout_seconds: int | None = None


def list_options(query: Query, *, watch: bool) -> ListOptions:
    """Read and check the options of a list or watch.

    Raises:
        BadRequest: A number is none.
        Invalid: The combination is not allowed.
    """
    one = dict(reversed(query))
    if not one:
        return ListOptions()
    initial = one.get("sendInitialEvents")
    timeout = one.get("timeoutSeconds")
    options = ListOptions(
        one.get("labelSelector", ""),
        one.get("fieldSelector", ""),
        whole(one.get("limit") or "0"),
        one.get("continue", ""),
        one.get("resourceVersion", ""),
        one.get("resourceVersionMatch", ""),
        truth(one.get("allowWatchBookmarks", "")),
        None if initial is None else truth(initial),
        whole(timeout) if timeout else None,
    )
    violations = _watch_violations(options) if watch else _list_violations(options)
    if violations:
        raise refused("ListOptions", violations)
    return options


def _list_violations(options: ListOptions) -> list[Violation]:
    found = []
    if options.match:
        if not options.resource_version:
            why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            found.append(forbidden("resourceVersionMatch", why))
        if options.token:
            why = "resourceVersionMatch is forbidden when continue is provided"
            found.append(forbidden("resourceVersionMatch", why))
        if options.match not in ("Exact", "NotOlderThan"):
            found.append(
                not_supported("resourceVersionMatch", options.match, ["Exact", "NotOlderThan", ""])
            )
        if options.match == "Exact" and options.resource_version == "0":
            why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            found.append(forbidden("resourceVersionMatch", why))
    if options.initial_events is not None:
        found.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return found


def _watch_violations(options: ListOptions) -> list[Violation]:
    found = []
    if options.initial_events is None:
        if options.match:
            why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            found.append(forbidden("resourceVersionMatch", why))
    else:
        if options.match != "NotOlderThan":
            why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            found.append(forbidden("resourceVersionMatch", why))
        if options.match and options.match != "NotOlderThan":
            found.append(not_supported("resourceVersionMatch", options.match, ["NotOlderThan"]))
    if options.token:
        found.append(forbidden("continue", "continue is forbidden for watch"))
    return found


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How something is to be deleted."""

    grace_seconds: int | None = None
    propagation: str | None = None
    orphan: bool | None = None
    """The old form of propagation Orphan or Background."""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False

    def tree(self) -> Tree:
        """Return the options as webhooks see them."""
        options: Tree = {"kind": "DeleteOptions", "apiVersion": f"{META}/v1"}
        if self.grace_seconds is not None:
            options["gracePeriodSeconds"] = self.grace_seconds
        if self.propagation is not None:
            options["propagationPolicy"] = self.propagation
        if self.dry_run:
            options["dryRun"] = ["All"]
        return options


def delete_options(query: Query, body: Tree | None) -> DeleteOptions:
    """Read the options of a delete; a body wins over the query.

    Raises:
        BadRequest: A number is none.
        Invalid: The combination is not allowed.
    """
    if body is None:
        one = dict(reversed(query))
        grace = one.get("gracePeriodSeconds")
        orphan = one.get("orphanDependents")
        body = {
            "gracePeriodSeconds": whole(grace) if grace else None,
            "propagationPolicy": one.get("propagationPolicy") or None,
            "orphanDependents": None if orphan is None else truth(orphan),
            "dryRun": [value for key, value in query if key == "dryRun"],
        }
    preconditions = body.get("preconditions") or {}
    propagation, orphan_dependents = body.get("propagationPolicy"), body.get("orphanDependents")
    dry_run = body.get("dryRun") or []
    violations = []
    if propagation is not None and orphan_dependents is not None:
        violations.append(
            invalid(
                "propagationPolicy",
                propagation,
                "orphanDependents and deletionPropagation cannot be both set",
            )
        )
    if propagation is not None and propagation not in _PROPAGATIONS:
        violations.append(not_supported("propagationPolicy", propagation, [*_PROPAGATIONS, "nil"]))
    violations += _dry_run_violations(dry_run)
    if violations:
        raise refused("DeleteOptions", violations)
    return DeleteOptions(
        body.get("gracePeriodSeconds"),
        propagation,
        orphan_dependents,
        preconditions.get("uid") or "",
        preconditions.get("resourceVersion") or "",
        bool(dry_run),
    )
