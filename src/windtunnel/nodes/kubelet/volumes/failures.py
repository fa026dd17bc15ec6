"""Why volumes cannot be made, in the words of the kubelet's events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class VolumeMissing(Exception):
    """Something that a volume is made of is not there (yet), or not what it must be."""


class ClaimMissing(Exception):
    """A volume is made of a claim that gives nothing (yet)."""


class MountFailed(Exception):
    """Some of a pod's volumes cannot be made now; ``messages`` has one for each event."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)


def setup_failed(volume: str, why: Exception) -> str:
    """Say that a volume could not be made."""
    return f'MountVolume.SetUp failed for volume "{volume}" : {why}'


def not_begun(claims: Mapping[str, ClaimMissing]) -> str:
    """Say of all volumes of a pod that claims stand for, by name, why none is begun with."""
    names = " ".join(sorted(claims))
    return (
        f"Unable to attach or mount volumes: unmounted volumes=[{names}], "
        f"unattached volumes=[], failed to process volumes=[{names}]: "
        f"{'; '.join(str(why) for why in claims.values())}"
    )


def together(failures: Sequence[str]) -> VolumeMissing:
    """Join the failures of a volume's parts, as Go's aggregates print them."""
    return VolumeMissing(failures[0] if len(failures) == 1 else f"[{', '.join(failures)}]")
