"""A node as a member of a pool: what is looked at, and what is said on it of what is to run there.

A played node runs nothing, but is exported.

Source: fake-gpu-operator 0.2 for the labels.
"""

from __future__ import annotations

from typing import Final

import msgspec

from windtunnel.devices import MIG_MAPPING, PLAYED
from windtunnel.gpu.marks import Marks

_EXPORTER_LABEL: Final = "nvidia.com/gpu.deploy.dcgm-exporter"
DEPLOY_LABELS: Final = (
    _EXPORTER_LABEL,
    "nvidia.com/gpu.deploy.device-plugin",
    "nvidia.com/gpu.deploy.dra-plugin-gpu",
    "nvidia.com/gpu.deploy.compute-domain-dra-plugin",
)
"""What is to run on a node."""


class MemberNode(msgspec.Struct):
    """What the status updater looks at in a node."""

    metadata: Marks = msgspec.field(default_factory=Marks)

    @property
    def uid(self) -> str:
        """Its UID."""
        return self.metadata.uid

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return self.metadata.labels

    @property
    def played(self) -> str | None:
        """What its annotation says of who plays it; None where it has none."""
        return self.metadata.annotations.get(PLAYED)

    @property
    def mapping(self) -> str:
        """What the MIG faker says of how its GPUs are cut; "" where it says nothing."""
        return self.metadata.annotations.get(MIG_MAPPING, "")

    def missing_labels(self) -> dict[str, str]:
        """Return what is still to be said of what is to run on it."""
        due = (_EXPORTER_LABEL,) if self.metadata.played else DEPLOY_LABELS
        return {name: "true" for name in due if self.labels.get(name) != "true"}

    def given_labels(self) -> list[str]:
        """Return what is said there, to be taken back when it leaves its pool."""
        return [name for name in DEPLOY_LABELS if name in self.labels]
