"""The arrays that everything about the fleet is told in: a place a node."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp] | slice
"""Which rows of a view: indices or a slice."""
