"""Named streams of chance, for simulation only: same seed, same run.

Each stream is independent, so one more draw here changes nothing there. Keys, tokens and uids of a
live cluster come from ``secrets``, never from here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class Chance:
    """A seed from which any number of named streams grow."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def stream(self, name: str) -> np.random.Generator:
        """Return the generator of this name; the same name gives the same draws again."""
        # Here, because only simulations draw: a client of the kernel must not pay for numpy.
        import numpy as np

        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))
