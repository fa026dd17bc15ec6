"""What a GPU product is called in the value of a node label."""

from __future__ import annotations

import re
from typing import Final

PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
_LONGEST: Final = 63


def label_value(product: str) -> str:
    """Return a product name as a label value, whatever it holds.

    Source: fake-gpu-operator 0.2, ``PRODUCT_LABEL`` of its nodes. (GPU feature
    discovery itself drops what a label may not hold: ``catalogue.product_label``.)
    """
    cut = re.sub(r"[^A-Za-z0-9._-]", "-", product)[:_LONGEST]
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", cut)
