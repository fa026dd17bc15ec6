"""What a user decides about a cluster, checked before anything is touched."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, get_origin

import msgspec

from windtunnel.apiserver import DEFAULT_PLUGINS, OPTIONAL_PLUGINS
from windtunnel.errors import UsageError
from windtunnel.machinery.age import parse_duration
from windtunnel.nodes import PoolOrder

PARTS: Final = ("scheduler", "controllers", "nodes", "kubelet")
"""What ``without`` may leave out, so that the real one can take its place.

``nodes`` are all nodes, played ones and the kubelet's.
"""

PREFERRED_PORT: Final = 6443
"""Taken when it is free and no port was asked for; source: kubeadm's default."""

COMPACT_PATH: Final = "/windtunnel/compact"
"""Where an administrator's POST makes the server forget its watch history."""

NODE: Final = "node-0"
"""The node that runs containers."""

SERVICE_RANGE: Final = "10.96.0.0/16"
SERVICE_ADDRESS: Final = "10.96.0.1"
"""The first address of the range: where pods find the API server."""

WITHOUT_EFFECT: Final = {
    "horizontal-pod-autoscaler-sync-period": "nothing here scales by metrics",
}
"""Flags of kube-controller-manager that are fine to give, and why they change nothing."""

_NUMBER: Final = r"[0-9]+(\.[0-9]*)?|\.[0-9]+"

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
    admission_plugins: frozenset[str] = DEFAULT_PLUGINS
    operator: bool = True
    """Install the fake GPU operator's release when the cluster is new."""
    token_file: Path | None = None
    """Lines of ``token,name,uid,"group1,group2"``."""
    scheduler_file: Path | None = None
    """A KubeSchedulerConfiguration; None: the real scheduler's defaults."""
    pools: tuple[PoolOrder, ...] = ()
    """Pools of nodes that are there from the start."""
    flags: tuple[tuple[str, str, str], ...] = ()
    """(part, flag, value): flags of the real programs that our parts know, too."""
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
        namesake = next((name for name in names if f"{name}-0" == NODE), None)
        if namesake and self.has_kubelet:
            raise UsageError(
                f"the first node of pool {namesake} would be {NODE}, which runs containers; "
                "choose another name for the pool, or --without kubelet"
            )

    @property
    def has_parts(self) -> bool:
        """Whether anything of ours runs beside the API server."""
        return not self.without.issuperset({"scheduler", "controllers", "nodes"})

    @property
    def has_kubelet(self) -> bool:
        """Whether there is a node that runs containers."""
        return not self.without & {"nodes", "kubelet"}

    @property
    def has_operator(self) -> bool:
        """Whether the operator is to be installed; without a node, its pods would never run."""
        return self.operator and self.has_kubelet


def choose_plugins(enabled: AbstractSet[str], disabled: AbstractSet[str]) -> frozenset[str]:
    """Return the admission plugins that are on, as the flags of kube-apiserver decide it.

    Raises:
        UsageError: one is not known, or is to be both on and off.
    """
    known = DEFAULT_PLUGINS | OPTIONAL_PLUGINS
    unknown = sorted((enabled | disabled) - known)
    if unknown:
        raise UsageError(
            f"there is no admission plugin {unknown[0]} to switch; there are "
            f"{', '.join(sorted(known))}"
        )
    both = sorted(enabled & disabled)
    if both:
        raise UsageError(f"admission plugin {both[0]} is to be both on and off")
    return (DEFAULT_PLUGINS | enabled) - disabled


def parse_flag(part: str, text: str) -> tuple[str, str, str]:
    """Read ``name=value``, a flag of this part; dashes in front, as the real ones have, are fine.

    Raises:
        UsageError: the text is not of this form.
    """
    flag, equals, value = text.partition("=")
    flag = flag.removeprefix("--")
    if not (equals and flag):
        raise UsageError(f"{text!r} is not of the form name=value")
    return part, flag, value


def read_flags(
    settings: Settings, part: str, kind: type[F], without: frozenset[str] = frozenset()
) -> F:
    """Return the flags of one part.

    Args:
        settings: What was asked for.
        part: Whose flags.
        kind: What the part knows, with its defaults.
        without: Names of ``kind`` that are no flags.

    Raises:
        UsageError: the part knows no such flag, or not such a value.
    """
    given = {flag: value for owner, flag, value in settings.flags if owner == part}
    fields = {
        field.encode_name: field
        for field in msgspec.structs.fields(kind)
        if field.encode_name not in without
    }
    read: dict[str, Any] = {}
    for flag, value in given.items():
        if flag not in fields:
            raise UsageError(
                f"{_option(part)} knows no {flag}; it knows {', '.join(sorted(fields))}"
            )
        read[flag] = _amount(part, fields[flag], value)
    return msgspec.convert(read, kind)


def _amount(part: str, field: msgspec.structs.FieldInfo, text: str) -> str | int | float:
    """Return a flag's value as what its default is."""
    default = field.default
    if isinstance(default, str):
        return text
    if isinstance(default, int):
        if re.fullmatch("[0-9]+", text):
            return int(text)
        what = "a whole number of at least 0"
    elif get_origin(field.type) is Annotated:
        try:
            return float(text) if re.fullmatch(_NUMBER, text) else parse_duration(text)
        except ValueError:
            what = "a duration of at least 0, such as 40s"
    else:
        if re.fullmatch(_NUMBER, text):
            return float(text)
        what = "a number of at least 0"
    raise UsageError(f"{_option(part)} {field.encode_name} is {what}, not {text!r}")


def _option(part: str) -> str:
    return f"--{part.removesuffix('s')}-arg"
