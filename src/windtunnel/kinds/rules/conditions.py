"""Conditions in the form that all newer kinds share (``metav1.Condition``).

Source: k8s.io/apimachinery of v1.36.3.
"""

from __future__ import annotations

import re
from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, duplicate, invalid, required, too_long

_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT: Final = names.pattern_text(
    "a condition reason must start with alphabetic character, optionally followed by a string of"
    " alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    _REASON,
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)
_LONGEST_REASON: Final = 1024
_LONGEST_MESSAGE: Final = 32 * 1024


def validate_conditions(conditions: list[Tree] | None, field: str) -> list[Violation]:
    """Judge a list of conditions; each type occurs once."""
    found: list[Violation] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions or ()):
        kind = condition.get("type") or ""
        if kind in seen:
            found.append(duplicate(f"{field}[{index}].type", kind))
        seen.add(kind)
        found += _validate_condition(condition, f"{field}[{index}]")
    return found


def _validate_condition(condition: Tree, field: str) -> list[Violation]:
    kind, status = condition.get("type") or "", condition.get("status") or ""
    found = checks.each(names.label_key(kind), f"{field}.type", kind)
    found += checks.one_of(status, f"{field}.status", ["False", "True", "Unknown"])
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        text = "must be greater than or equal to zero"
        found.append(invalid(f"{field}.observedGeneration", generation, text))
    if not condition.get("lastTransitionTime"):
        found.append(required(f"{field}.lastTransitionTime"))
    reason = condition.get("reason") or ""
    if not reason:
        found.append(required(f"{field}.reason"))
    elif not re.fullmatch(_REASON, reason):
        found.append(invalid(f"{field}.reason", reason, _REASON_TEXT))
    if len(reason.encode()) > _LONGEST_REASON:
        found.append(too_long(f"{field}.reason", _LONGEST_REASON))
    if len((condition.get("message") or "").encode()) > _LONGEST_MESSAGE:
        found.append(too_long(f"{field}.message", _LONGEST_MESSAGE))
    return found
