"""The catalogue of GPU models, read from ``catalogue.toml`` beside this module.

A user may name a model by its key (``h100``), by what NVML calls it (``NVIDIA H100 80GB HBM3``)
or by the label that GPU feature discovery makes of it (``NVIDIA-H100-80GB-HBM3``).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

import msgspec

GPU: Final = "nvidia.com/gpu"
"""The extended resource that NVIDIA's device plugin offers."""
GPU_DRIVER: Final = "gpu.nvidia.com"
CHANNEL_DRIVER: Final = "compute-domain.nvidia.com"
"""The drivers of dynamic resource allocation: of GPUs, of the channels of compute domains."""


class GpuModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model: what its labels say."""

    name: str
    """What NVML returns."""
    memory_mib: int
    family: str
    compute: str
    """Compute capability, ``major.minor``."""
    gpus: int
    """How many are usually in one node."""
    mig: bool

    @property
    def label(self) -> str:
        """The value of the label ``nvidia.com/gpu.product``."""
        return product_label(self.name)


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: dict[str, GpuModel]


def product_label(name: str) -> str:
    """Return the label value for a product name.

    Source: GPU feature discovery 0.20: blanks become ``-``; what a label may not hold is dropped.
    """
    return re.sub(r"[^A-Za-z0-9\-_. ]", "", re.sub(r"\s+", "-", name.strip()))


@cache
def models() -> dict[str, GpuModel]:
    """Return every known model by key, in the order of the file."""
    text = resources.files(__package__).joinpath("catalogue.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Document).models


@cache
def find_model(product: str) -> GpuModel | None:
    """Return the model that ``product`` names by key, NVML name or label, or None."""
    wanted = product_label(product).lower()
    for key, model in models().items():
        if wanted in (key, model.label.lower()):
            return model
    return None
