"""Refusals of the API, as a tree of exceptions that know their own ``Status`` body.

    ApiError                     anything the API server answers with a Status of failure
    ├─ BadRequest 400            the body or a parameter cannot be understood
    ├─ Unauthorized 401          nobody is known by these credentials
    ├─ Forbidden 403             known, but not allowed; also most refusals of admission
    ├─ NotFound 404
    ├─ MethodNotAllowed 405
    ├─ NotAcceptable 406
    ├─ AlreadyExists 409         create hit a live object of the same name
    ├─ Conflict 409              the object has changed, or belongs to another manager
    ├─ Expired 410               history up to there is forgotten
    ├─ TooLarge 413
    ├─ UnsupportedMediaType 415
    ├─ Invalid 422               the object breaks rules (carries Violations)
    ├─ TooManyRequests 429
    ├─ InternalError 500
    ├─ ServiceUnavailable 503
    └─ Timeout 504

The messages are the real server's (v1.36.3); golden answers hold them to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation


class ApiError(Exception):
    """A refusal. ``code`` and ``reason`` go on the wire; ``details`` is None for none at all.

    ``resource`` is what messages print: the plural, with ``.group`` where there is one.
    """

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"

    def __init__(
        self, message: str, *, details: Tree | None = None, retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.retry_after_seconds = retry_after_seconds

    def to_status(self) -> Tree:
        """Return the ``Status`` body of this refusal."""
        status: Tree = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = dict(self.details)
        if self.retry_after_seconds is not None:
            status.setdefault("details", {})["retryAfterSeconds"] = self.retry_after_seconds
        status["code"] = self.code
        return status


def details_of(
    group: str = "", kind: str = "", name: str = "", uid: str = "", causes: Sequence[Tree] = ()
) -> Tree:
    """Return a ``details`` object with the empty parts left out."""
    parts: dict[str, Any] = {
        "name": name, "group": group, "kind": kind, "uid": uid, "causes": list(causes),
    }  # fmt: skip
    return {field: value for field, value in parts.items() if value}


def qualified(plural_or_kind: str, group: str) -> str:
    """Return ``deployments.apps``, or just ``pods`` for the core group."""
    return f"{plural_or_kind}.{group}" if group else plural_or_kind


class BadRequest(ApiError):
    """The body or a parameter cannot be understood."""

    code, reason = 400, "BadRequest"


class Unauthorized(ApiError):
    """Nobody is known by these credentials."""

    code, reason = 401, "Unauthorized"

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class Forbidden(ApiError):
    """Known, but not allowed; also what most admission rules answer."""

    code, reason = 403, "Forbidden"

    @classmethod
    def of(
        cls, plural: str, group: str, name: str, why: str, causes: Sequence[Tree] = ()
    ) -> Forbidden:
        """Refuse one object: ``pods "p" is forbidden: why``."""
        subject = qualified(plural, group) + (f' "{name}"' if name else "")
        return cls(
            f"{subject} is forbidden: {why}", details=details_of(group, plural, name, causes=causes)
        )


class NotFound(ApiError):
    """There is no such object, or no such resource (``NotFound.resource()``)."""

    code, reason = 404, "NotFound"

    def __init__(
        self, message: str, *, details: Tree | None = None, retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message, details=details, retry_after_seconds=retry_after_seconds)

    @classmethod
    def of(cls, plural: str, group: str, name: str) -> NotFound:
        """No object of this name."""
        return cls(
            f'{qualified(plural, group)} "{name}" not found',
            details=details_of(group, plural, name),
        )

    @classmethod
    def resource(cls) -> NotFound:
        """The path names no resource that is served."""
        return cls("the server could not find the requested resource", details={})


class MethodNotAllowed(ApiError):
    """The resource does not know this verb."""

    code, reason = 405, "MethodNotAllowed"

    def __init__(self, message: str = "", *, details: Tree | None = None) -> None:
        super().__init__(
            message or "the server does not allow this method on the requested resource",
            details={} if details is None else details,
        )


class NotAcceptable(ApiError):
    """No form that the client accepts can be made."""

    code, reason = 406, "NotAcceptable"


class AlreadyExists(ApiError):
    """Create hit a live object of the same name."""

    code, reason = 409, "AlreadyExists"

    @classmethod
    def of(cls, plural: str, group: str, name: str) -> AlreadyExists:
        """The name is taken."""
        return cls(
            f'{qualified(plural, group)} "{name}" already exists',
            details=details_of(group, plural, name),
        )


class Conflict(ApiError):
    """The object has changed meanwhile, or its fields belong to another manager."""

    code, reason = 409, "Conflict"

    @classmethod
    def of(cls, plural: str, group: str, name: str, why: str) -> Conflict:
        """``Operation cannot be fulfilled on pods "p": why``."""
        return cls(
            f'Operation cannot be fulfilled on {qualified(plural, group)} "{name}": {why}',
            details=details_of(group, plural, name),
        )


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
"""Why a write with a stale resourceVersion is refused."""


class Expired(ApiError):
    """History up to the asked revision is forgotten."""

    code, reason = 410, "Expired"


class TooLarge(ApiError):
    """The body is over the limit."""

    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(ApiError):
    """The body is in a form that cannot be read here."""

    code, reason = 415, "UnsupportedMediaType"


class Invalid(ApiError):
    """The object breaks rules. ``violations`` are the rules it breaks, in order."""

    code, reason = 422, "Invalid"

    def __init__(self, kind: str, group: str, name: str, violations: Sequence[Violation]) -> None:
        # The message says the same thing once; the causes keep every violation.
        texts = list(dict.fromkeys(map(str, violations)))
        text = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
        super().__init__(
            f'{qualified(kind, group)} "{name}" is invalid: {text}',
            details=details_of(group, kind, name, causes=[v.as_cause() for v in violations]),
        )
        self.violations = tuple(violations)


class TooManyRequests(ApiError):
    """Not now."""

    code, reason = 429, "TooManyRequests"


class InternalError(ApiError):
    """The server cannot do what was asked, through no fault of the client."""

    code, reason = 500, "InternalError"


class ServiceUnavailable(ApiError):
    """A part that this needs does not answer."""

    code, reason = 503, "ServiceUnavailable"


class Timeout(ApiError):
    """It did not happen in time."""

    code, reason = 504, "Timeout"


_KINDS: tuple[type[ApiError], ...] = (
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    AlreadyExists,
    Conflict,
    Expired,
    TooLarge,
    UnsupportedMediaType,
    Invalid,
    TooManyRequests,
    InternalError,
    ServiceUnavailable,
    Timeout,
)


def refusal(status: Tree) -> ApiError:
    """Return the error that a ``Status`` of failure spells: the other way of ``to_status``.

    An answer of an unknown reason becomes the general error of its code.
    """
    reason, code = str(status.get("reason") or ""), status.get("code") or 500
    kind = next((known for known in _KINDS if known.reason == reason), None)
    if kind is None:
        kind = next((known for known in _KINDS if known.code == code), ApiError)
    error = kind.__new__(kind)
    details = status.get("details")
    seconds = (details or {}).get("retryAfterSeconds")
    message = str(status.get("message") or f"the server answered {code}")
    ApiError.__init__(error, message, details=details, retry_after_seconds=seconds)
    if isinstance(error, Invalid):
        error.violations = tuple(
            Violation(cause.get("field", ""), cause.get("reason", ""), cause.get("message", ""))
            for cause in (details or {}).get("causes") or ()
        )
    return error
