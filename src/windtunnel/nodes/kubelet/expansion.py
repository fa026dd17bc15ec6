"""``$(NAME)`` in commands and variables.

Source: Kubernetes' own expansion. ``$$`` is a dollar sign; what nobody knows stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SPOT: Final = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, known: Mapping[str, str]) -> str:
    """Return the text with every known name replaced by its value."""

    def replaced(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return known.get(match[1], match[0])

    return _SPOT.sub(replaced, text)
