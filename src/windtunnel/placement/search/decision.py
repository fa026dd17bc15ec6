"""What came of looking for a node: a value that can be kept, printed and replayed.

The words of a failure are the real scheduler's (v1.36), message for message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.machinery.tree import Key
from windtunnel.placement.judgement import Refusal
from windtunnel.placement.verdict import Code

NO_NODES: Final = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Gate:
    """What the rules said before they saw nodes."""

    code: Code = Code.SUCCESS
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    """The only nodes looked at; None: all."""
    restricting: tuple[str, ...] = ()
    """The rules that named them."""

    @property
    def message(self) -> str:
        """The refusal's words; "" where there is none."""
        return ", ".join(self.reasons)


@dataclass(frozen=True, slots=True)
class RefusedNodes:
    """Nodes refused for the same reasons."""

    refusal: Refusal
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """Weighted scores of the feasible nodes, in the order of the walk."""

    nodes: tuple[str, ...]
    plugins: Mapping[str, tuple[int, ...]]
    total: tuple[int, ...]


class Decision(msgspec.Struct, frozen=True):
    """One search for a node. A struct, for one is made for every pod."""

    pod: Key
    node: str
    """The chosen node; "" where there is none."""
    nodes: int
    """Nodes in the cluster."""
    feasible: int = 0
    """Feasible nodes that were found."""
    passed: int = 0
    """Nodes looked at."""
    gate: Gate = Gate()
    nominated_tried: str = ""
    """The nominated node, where it was tried first."""
    refused: tuple[RefusedNodes, ...] = ()
    """Why nodes were refused; kept for failures, and where details are asked for."""
    found: tuple[str, ...] = ()
    """Feasible nodes in the order of the walk, where details are asked for."""
    surplus: str = ""
    """The feasible node that ended the walk, one too many, where details are asked for."""
    scores: Scores | None = None
    """Where details are asked for and there was a choice."""

    @property
    def rejectors(self) -> frozenset[str]:
        """The rules that refused anything: whose news may bring the pod back."""
        named = {one.refusal.plugin for one in self.refused} | set(self.gate.restricting)
        if self.gate.plugin:
            named.add(self.gate.plugin)
        return frozenset(named)

    def message(self, postscript: str = "") -> str:
        """Return why no node was found; ``postscript`` tells what came of preemption."""
        if not self.nodes:
            return NO_NODES
        if self.gate.code is not Code.SUCCESS:
            return _sentence(
                f"0/{self.nodes} nodes are available: {self.gate.message}.", postscript
            )
        counts: Counter[str] = Counter()
        for one in self.refused:
            for reason in one.refusal.reasons:
                counts[reason] += len(one.nodes)
        left_out = self.nodes - sum(len(one.nodes) for one in self.refused)
        if left_out and self.gate.restricting:
            counts[f"node(s) didn't satisfy plugin(s) [{' '.join(self.gate.restricting)}]"] += (
                left_out
            )
        return _sentence(f"0/{self.nodes} nodes are available:{histogram(counts)}", postscript)


def histogram(counts: Mapping[str, int]) -> str:
    """Return `` 2 a, 3 b.``, sorted as text; "" for nothing."""
    told = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f" {', '.join(told)}." if told else ""


def _sentence(text: str, postscript: str) -> str:
    return f"{text} {postscript}" if postscript else text
