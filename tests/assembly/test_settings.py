"""Wishes that contradict each other are refused before anything is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from windtunnel.assembly.settings import Settings, parse_flag, read_flags
from windtunnel.errors import UsageError
from windtunnel.nodes import PoolOrder

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "data for an ephemeral cluster": (
        {"ephemeral": True, "data_dir": Path("d")},
        "an ephemeral cluster has no data",
    ),
    "an unknown part": ({"without": frozenset({"etcd"})}, "there is no part etcd"),
    "a port below all ports": ({"port": -1}, "port -1 is not between"),
    "a port beyond all ports": ({"port": 65536}, "port 65536 is not between"),
    "the same pool twice": (
        {"pools": (PoolOrder(name="a"), PoolOrder(name="a", gpus=4))},
        "pool a is given twice",
    ),
}


@pytest.mark.parametrize(("wishes", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Settings(name="a", kubeconfig=Path("k"), **wishes)


class Flags(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    grace_period: float = 5.0
    retries: int = 1
    name: str = ""


def with_flags(*texts: str) -> Settings:
    flags = tuple(parse_flag(text) for text in texts)
    return Settings(name="a", kubeconfig=Path("k"), flags=flags)


def test_flags_of_a_part_are_read_by_their_real_names() -> None:
    settings = with_flags("controllers.grace-period=8", "nodes.name=x", "controllers.name=a=b")

    assert read_flags(settings, "controllers", Flags) == Flags(grace_period=8.0, name="a=b")
    assert read_flags(settings, "nodes", Flags) == Flags(name="x")


WRONG_FLAGS = {
    "an unknown flag": ("controllers.pace=8", "controllers knows no flag pace; it knows"),
    "no number": ("controllers.grace-period=soon", "grace-period is a number of at least 0, not"),
    "a number below 0": ("controllers.grace-period=-5", "is a number of at least 0, not '-5'"),
    "infinity": ("controllers.grace-period=inf", "is a number of at least 0, not 'inf'"),
    "a part of a whole": ("controllers.retries=1.5", "is a whole number of at least 0, not '1.5'"),
    "a part without flags": ("scheduler.x=1", "part scheduler has no flags"),
    "no part": ("pace=8", "is not of the form part.flag=value"),
    "no value": ("controllers.pace", "is not of the form part.flag=value"),
}


@pytest.mark.parametrize(("text", "said"), WRONG_FLAGS.values(), ids=WRONG_FLAGS)
def test_a_flag_is_refused_for(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_flags(with_flags(text), "controllers", Flags)
