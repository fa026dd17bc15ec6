"""What a user decides about a cluster, checked before anything is touched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from windtunnel.errors import UsageError
from windtunnel.nodes import PoolOrder

PARTS: Final = ("scheduler", "controllers", "nodes", "kubelet")
"""What ``without`` may leave out, so that the real one can take its place.

``nodes`` are all nodes, played ones and the kubelet's.
"""

PREFERRED_PORT: Final = 6443
"""Taken when it is free and no port was asked for; source: kubeadm's default."""

COMPACT_PATH: Final = "/windtunnel/compact"
"""Where an administrator's POST makes the server forget its watch history."""

SERVICE_RANGE: Final = "10.96.0.0/16"
SERVICE_ADDRESS: Final = "10.96.0.1"
"""The first address of the range: where pods find the API server."""


F = TypeVar("F", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One cluster, as it was asked for.

    Raises:
        UsageError: the wishes contradict each other.
    """

    name: str
    kubeconfig: Path
    """The user's file; a context for the cluster is merged into it."""
    port: int | None = None
    """0: any free one; None: the preferred port if it is free, else any."""
    data_dir: Path | None = None
    """None: where the cluster's data has been, at first inside the state folder."""
    ephemeral: bool = False
    """Keep everything in memory only."""
    without: frozenset[str] = frozenset()
    operator: bool = True
    """Install the fake GPU operator's release when the cluster is new."""
    token_file: Path | None = None
    """Lines of ``token,name,uid,"group1,group2"``."""
    scheduler_file: Path | None = None
    """A KubeSchedulerConfiguration; None: the real scheduler's defaults."""
    pools: tuple[PoolOrder, ...] = ()
    """Pools of nodes that are there from the start."""
    controller_args: tuple[tuple[str, str], ...] = ()
    """(name, value): flags of kube-controller-manager that our controllers know, too."""
    home: Path | None = None
    """The folder of all state folders; None: the user's."""

    def __post_init__(self) -> None:
        if self.ephemeral and self.data_dir is not None:
            raise UsageError("an ephemeral cluster has no data: drop --ephemeral or --data-dir")
        strangers = sorted(self.without - set(PARTS))
        if strangers:
            raise UsageError(f"there is no part {strangers[0]}; --without knows {', '.join(PARTS)}")
        if self.port is not None and not 0 <= self.port <= 65535:
            raise UsageError(f"port {self.port} is not between 0 (any free one) and 65535")
        names = [pool.name for pool in self.pools]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise UsageError(f"pool {twice} is given twice")

    @property
    def has_kubelet(self) -> bool:
        """Whether there is a node that runs containers."""
        return not self.without & {"nodes", "kubelet"}

    @property
    def has_operator(self) -> bool:
        """Whether the operator is to be installed; without a node, its pods would never run."""
        return self.operator and self.has_kubelet


def parse_flag(text: str) -> tuple[str, str, str]:
    """Read ``part.flag=value``.

    Raises:
        UsageError: the text is not of this form.
    """
    place, equals, value = text.partition("=")
    part, dot, flag = place.partition(".")
    if not (equals and dot and flag):
        raise UsageError(f"{text!r} is not of the form part.flag=value")
    return part, flag, value


def read_flags(settings: Settings, part: str, kind: type[F]) -> F:
    """Return the flags of one part.

    Raises:
        UsageError: the part knows no such flag, or not such a value.
    """
    given = {flag: value for owner, flag, value in settings.flags if owner == part}
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    unknown = next((flag for flag in given if flag not in known), None)
    if unknown is not None:
        raise UsageError(f"{part} knows no flag {unknown}; it knows {', '.join(sorted(known))}")
    for flag, value in given.items():
        default = getattr(kind(), flag.replace("-", "_"))
        if not isinstance(default, str) and not _is_amount(value, whole=isinstance(default, int)):
            what = "a whole number" if isinstance(default, int) else "a number"
            raise UsageError(f"flag {part}.{flag} is {what} of at least 0, not {value!r}")
    return msgspec.convert(given, kind, strict=False)


def _is_amount(text: str, *, whole: bool) -> bool:
    return re.fullmatch(r"[0-9]+" if whole else r"[0-9]+(\.[0-9]*)?|\.[0-9]+", text) is not None
