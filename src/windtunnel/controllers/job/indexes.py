"""The completion index of a pod of an Indexed Job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

INDEX: Final = "batch.kubernetes.io/job-completion-index"


def index_of(annotations: Mapping[str, str], completions: int | None) -> int | None:
    """Return a pod's completion index, or None for none or one beyond the completions."""
    text = annotations.get(INDEX, "")
    if not (text.isascii() and text.isdecimal()) or len(text) > 10:
        return None
    number = int(text)
    return number if completions is not None and number < completions else None
