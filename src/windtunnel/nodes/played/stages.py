"""Stages: how a played object lives, as data. One YAML file a stage, in ``stages/`` beside this.

A stage matches by its tests, waits, then writes a status or deletes. Among several that match,
chance decides by weight; a weight of 0 only wins where nothing else has any.

Source: kwok 0.9, engine and default stages (fast pods, nodes with leases, the chaos stages).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import msgspec
import yaml

from windtunnel.machinery.timestamp import parse_time
from windtunnel.nodes.played.language import (
    Scene,
    Template,
    Test,
    compile_template,
    compile_tests,
    paths_of,
)

DEFAULT_STAGES: Final = (
    "node-initialize",
    "node-heartbeat-with-lease",
    "node-not-ready",
    "pod-ready",
    "pod-complete",
    "pod-delete",
    "pod-container-running-failed",
)
"""In the order in which they are tried."""

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_UNIT_SECONDS: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip


class After(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """When a stage is played: after ``seconds``, or at random between them and ``up_to``."""

    seconds: Any = 0
    up_to: Any = None


class StageDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file in ``stages/``."""

    name: str
    resource: str
    when: dict[str, Any]
    after: After = After()
    weight: Any = 0
    status: Any = None
    delete: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """A compiled stage."""

    name: str
    resource: str
    matches: Test
    paths: frozenset[str]
    """Where ``matches`` looks."""
    seconds: Template
    up_to: Template
    at_once: bool
    weight: Template
    status: Template | None
    delete: bool

    def delay(self, scene: Scene, draw: Callable[[], float]) -> float:
        """Return how long to wait, in seconds; ``draw`` gives a number in [0, 1)."""
        if self.at_once:
            return 0.0
        now = scene.names["now"]
        least = seconds_of(self.seconds(scene), now) or 0.0
        most = seconds_of(self.up_to(scene), now)
        if most is None or most <= least:
            return least if most is None else most
        return least + (most - least) * draw()


def compile_stage(document: StageDocument) -> Stage:
    """Compile one document.

    Raises:
        ValueError: a test or template makes no sense.
    """
    return Stage(
        name=document.name,
        resource=document.resource,
        matches=compile_tests(document.when),
        paths=frozenset(paths_of(document.when)),
        seconds=compile_template(document.after.seconds),
        up_to=compile_template(document.after.up_to),
        at_once=document.after == After(),
        weight=compile_template(document.weight),
        status=None if document.status is None else compile_template(document.status),
        delete=document.delete,
    )


def load_stages(names: Sequence[str] = DEFAULT_STAGES) -> tuple[Stage, ...]:
    """Compile the named stages of this package."""
    folder = resources.files(__package__).joinpath("stages")
    return tuple(
        compile_stage(
            msgspec.convert(
                yaml.safe_load(folder.joinpath(f"{name}.yaml").read_bytes()), type=StageDocument
            )
        )
        for name in names
    )


def choose(matching: Sequence[Stage], scene: Scene, draw: Callable[[], float]) -> Stage:
    """Return which of the stages that match, one at least, is to be played next."""
    if len(matching) == 1:
        return matching[0]
    weights = [_weight(stage.weight(scene)) for stage in matching]
    known = [(stage, weight) for stage, weight in zip(matching, weights, strict=True) if weight]
    if not known:
        candidates = [
            stage for stage, weight in zip(matching, weights, strict=True) if weight is not None
        ] or matching
        return candidates[int(draw() * len(candidates))]
    left = draw() * sum(weight for _, weight in known)
    for stage, weight in known:
        left -= weight
        if left < 0:
            return stage
    return known[-1][0]


def _weight(value: Any) -> int | None:
    """Return a weight, or None for one that cannot be read."""
    try:
        return max(int(str(value), 0), 0)
    except ValueError:
        return None


def seconds_of(value: Any, now: str) -> float | None:
    """Return a delay in seconds: a number, ``1m30s``, or the time until an RFC 3339 time.

    Nothing, and what cannot be read, is None.
    """
    if value is None or value == "":
        return None
    if isinstance(value, (int, float)):
        return float(value)
    text = str(value)
    parts = _DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)
    try:
        return max(parse_time(text) - parse_time(now), 0.0)
    except ValueError:
        return None
