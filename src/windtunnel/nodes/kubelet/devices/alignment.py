"""What several resources can agree on: hints merged into one set of nodes, as the policy wills it.

Merging is a cross product that is folded, one resource at a time, keeping each outcome once: it
stays small where a product of eight nodes' hints would not.

Source: kubelet v1.36, topology manager.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windtunnel.nodes.kubelet.devices.hints import Hint
from windtunnel.nodes.kubelet.settings import TopologyPolicy

Opinion = Sequence[Hint] | None
"""What one resource says: None: it does not mind; nothing: it cannot be."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where a container is to get its devices, and whether it is let in."""

    mask: int | None
    """None: anywhere."""
    admitted: bool


def align(policy: TopologyPolicy, opinions: Sequence[Opinion], machine: int) -> Alignment:
    """Merge what every resource says.

    Args:
        policy: How strict to be.
        opinions: One of each resource.
        machine: All nodes of the machine.
    """
    if policy == "none":
        return Alignment(None, True)
    lists = [_spoken(opinion) for opinion in opinions]
    if policy == "single-numa-node":
        lists = [
            [hint for hint in hints if hint.preferred and _bits(hint.mask) <= 1] for hints in lists
        ]
    best = _best(lists, machine)
    mask = best.mask
    if policy == "single-numa-node" and mask == machine:
        mask = None
    return Alignment(mask, best.preferred or policy == "best-effort")


def _spoken(opinion: Opinion) -> list[Hint]:
    if opinion is None:
        return [Hint(None, True)]
    return list(opinion) or [Hint(None, False)]


def _bits(mask: int | None) -> int:
    return 0 if mask is None else mask.bit_count()


def _best(lists: Sequence[Sequence[Hint]], machine: int) -> Hint:
    """Return the best that one hint of each list comes to."""
    # (common nodes, all preferred, the one mask that all named, None: none has named any)
    merged: set[tuple[int, bool, int | None]] = {(machine, True, None)}
    for hints in lists:
        merged = {
            (
                mask if hint.mask is None else mask & hint.mask,
                preferred and hint.preferred and (None in (named, hint.mask) or named == hint.mask),
                hint.mask if named is None else named,
            )
            for mask, preferred, named in merged
            for hint in hints
        }
    candidates = {Hint(mask, preferred) for mask, preferred, _ in merged if mask}
    if not candidates:
        return Hint(machine, False)
    # The widest of what each resource would need at least.
    enough = max(
        (min(_bits(hint.mask) for hint in hints if hint.mask is not None) for hints in lists
         if any(hint.mask is not None for hint in hints)),
        default=0,
    )  # fmt: skip

    def rank(hint: Hint) -> tuple[bool, bool, int, int]:
        mask = hint.mask or 0
        count = mask.bit_count()
        if hint.preferred:
            return (False, False, count, mask)
        # Without preference: as many nodes as are needed, sooner fewer than more.
        return (True, count > enough, count if count > enough else -count, mask)

    return min(candidates, key=rank)
