"""Wishes that contradict each other are refused before anything is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from windtunnel.apiserver import DEFAULT_PLUGINS, OPTIONAL_PLUGINS
from windtunnel.assembly.settings import Settings, choose_plugins, parse_flag, read_flags
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
    "a pool of the node that runs containers": (
        {"pools": (PoolOrder(name="node"),)},
        "the first node of pool node would be node-0, which runs containers",
    ),
}


@pytest.mark.parametrize(("wishes", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Settings(name="a", kubeconfig=Path("k"), **wishes)


def test_a_pool_may_be_named_like_the_node_that_is_left_out() -> None:
    left_out = frozenset({"kubelet"})
    Settings(name="a", kubeconfig=Path("k"), without=left_out, pools=(PoolOrder(name="node"),))


class Flags(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    grace_period: Annotated[float, msgspec.Meta(title="duration")] = 5.0
    rate: float = 1.0
    retries: int = 1
    name: str = ""


def with_flags(*texts: str) -> Settings:
    flags = tuple(parse_flag("controllers", text) for text in texts)
    return Settings(name="a", kubeconfig=Path("k"), flags=flags)


@pytest.mark.parametrize("text", ["8", "8s", "0m8s", "8000ms"])
def test_a_duration_is_given_as_go_does_or_in_seconds(text: str) -> None:
    settings = with_flags(f"grace-period={text}")

    assert read_flags(settings, "controllers", Flags) == Flags(grace_period=8.0)


def test_flags_of_a_part_are_read_by_their_real_names() -> None:
    settings = with_flags("--rate=0.5", "name=a=b")

    assert read_flags(settings, "controllers", Flags) == Flags(rate=0.5, name="a=b")
    assert read_flags(settings, "nodes", Flags) == Flags()


WRONG_FLAGS = {
    "an unknown flag": ("pace=8", "--controller-arg knows no pace; it knows grace-period"),
    "no duration": (
        "grace-period=soon",
        "--controller-arg grace-period is a duration of at least 0",
    ),
    "a duration below 0": ("grace-period=-5s", "is a duration of at least 0, such as 40s, not"),
    "a number in seconds": (
        "rate=10s",
        "--controller-arg rate is a number of at least 0, not '10s'",
    ),
    "infinity": ("rate=inf", "is a number of at least 0, not 'inf'"),
    "a part of a whole": ("retries=1.5", "is a whole number of at least 0, not '1.5'"),
    "what is no flag": ("name=x", "--controller-arg knows no name"),
    "no value": ("pace", "is not of the form name=value"),
}


@pytest.mark.parametrize(("text", "said"), WRONG_FLAGS.values(), ids=WRONG_FLAGS)
def test_a_flag_is_refused_for(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_flags(with_flags(text), "controllers", Flags, frozenset({"name"}))


def test_admission_plugins_are_switched_by_name() -> None:
    chosen = choose_plugins({"ExtendedResourceToleration", "Priority"}, {"ServiceAccount"})

    assert chosen == (DEFAULT_PLUGINS | OPTIONAL_PLUGINS) - {"ServiceAccount"}


@pytest.mark.parametrize(
    ("enabled", "disabled", "said"),
    [
        ({"AlwaysDeny"}, set(), "there is no admission plugin AlwaysDeny to switch"),
        ({"Priority"}, {"Priority"}, "Priority is to be both on and off"),
    ],
)
def test_what_cannot_be_switched_is_refused(
    enabled: set[str], disabled: set[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        choose_plugins(enabled, disabled)
