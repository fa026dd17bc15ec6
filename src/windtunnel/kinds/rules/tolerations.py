"""When a toleration covers a taint: one rule for who places pods and who drives them away.

Source: ToleratesTaint of Kubernetes v1.36, without the operators of gates that are off.
"""

from __future__ import annotations

from typing import Protocol


class TaintFields(Protocol):
    """What any form of a taint shows."""

    @property
    def key(self) -> str:
        """Names the taint."""

    @property
    def value(self) -> str:
        """What tolerations that are Equal must name."""

    @property
    def effect(self) -> str:
        """What the taint does to pods."""


class TolerationFields(TaintFields, Protocol):
    """What any form of a toleration shows; empty fields match anything."""

    @property
    def operator(self) -> str:
        """Exists, or Equal where it is empty."""


def tolerates(toleration: TolerationFields, taint: TaintFields) -> bool:
    """Say whether the pod may ignore ``taint``."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value
