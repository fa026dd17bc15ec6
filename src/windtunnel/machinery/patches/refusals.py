"""How patches that cannot be applied are refused, and how Go prints what is wrong with them."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.machinery.errors import ApiError, BadRequest
from windtunnel.machinery.tree import Tree


class PatchFailed(ApiError):
    """A well-formed patch does not fit the object. The real server does not say why."""

    code, reason = 422, "Invalid"

    def __init__(self) -> None:
        super().__init__(
            "the server rejected our request due to an error in our request", details={}
        )


class DirectiveMistake(ApiError):
    """A strategic merge patch uses a directive wrongly; the real server calls it its own error."""

    code, reason = 500, ""


DECODING: Final = "error decoding patch: "


def must_be_object(patch: Any, before: str = DECODING) -> Tree:
    """Return the patch if it is an object; ``before`` begins what is said otherwise.

    Raises:
        BadRequest: It is something else.
    """
    if isinstance(patch, dict):
        return patch
    raise BadRequest(f"{before}{not_a(patch, 'map[string]interface {}')}")


def not_a(value: Any, wanted: str) -> str:
    """Say in Go's words that a value is of the wrong type."""
    return f"json: cannot unmarshal {_word(value)} into Go value of type {wanted}"


def _word(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
    return "object"


def go_text(value: Any) -> str:
    """Print a value as Go's ``%v`` prints decoded JSON: ``map[a:1 b:[x y]]``, keys sorted."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case dict():
            return "map[" + " ".join(f"{key}:{go_text(value[key])}" for key in sorted(value)) + "]"
        case list():
            return "[" + " ".join(go_text(item) for item in value) + "]"
    return str(value)
