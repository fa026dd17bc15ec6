"""Why volumes cannot be made, in the words of the kubelet's events."""

from __future__ import annotations

from collections.abc import Sequence


class VolumeMissing(Exception):
    """Something that a volume is made of is not there (yet), or not what it must be."""


class ClaimMissing(Exception):
    """A volume is made of a claim that gives nothing (yet)."""


class UnknownClaims:
    """The volumes of one pod that claims stand for and that cannot even be begun with."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._reasons: list[str] = []

    def add(self, volume: str, why: ClaimMissing) -> None:
        """Take note of one more."""
        self.names.append(volume)
        self._reasons.append(str(why))

    @property
    def message(self) -> str:
        """Return what an event says of them all."""
        names = " ".join(sorted(self.names))
        return (
            f"Unable to attach or mount volumes: unmounted volumes=[{names}], "
            f"unattached volumes=[], failed to process volumes=[{names}]: "
            f"{'; '.join(self._reasons)}"
        )


class MountFailed(Exception):
    """Some of a pod's volumes cannot be made now; ``messages`` has one for each event."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)


def setup_failed(volume: str, why: Exception) -> str:
    """Say that a volume could not be made."""
    return f'MountVolume.SetUp failed for volume "{volume}" : {why}'


def together(failures: Sequence[str]) -> VolumeMissing:
    """Join the failures of a volume's parts, as Go's aggregates print them."""
    return VolumeMissing(failures[0] if len(failures) == 1 else f"[{', '.join(failures)}]")
