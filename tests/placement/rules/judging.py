"""Asks one rule about a fleet, and says what it answered in plain values."""

from __future__ import annotations

from windtunnel.fleet import Fleet, PodView
from windtunnel.placement import Code, Filter, Relief, RowScore, SetScore, What

Answer = tuple[list[bool], list[str], list[bool]]
"""Who passes, which reasons are told, where removing pods would not help."""


def verdict(rule: Filter, pod: PodView, made: Fleet) -> Answer:
    found = rule.filter(pod, made.view())
    return (
        found.passes.tolist(),
        [reason for reason, _ in found.reasons],
        found.unresolvable.tolist(),
    )


def skips(rule: Filter, pod: PodView, made: Fleet) -> bool:
    return rule.admit(pod, made.view()).code is Code.SKIP


def ratings(rule: RowScore, pod: PodView, made: Fleet) -> list[int]:
    found: list[int] = rule.rate(pod, made.view()).tolist()
    return found


def comparison(rule: SetScore, pod: PodView, made: Fleet) -> list[int]:
    found: list[int] = rule.compare(pod, made.view()).tolist()
    return found


def relieved(rule: Filter, pod: PodView, made: Fleet, what: What, /, **news: object) -> bool:
    return rule.relieved(pod, Relief(what, **news), made.view())  # type: ignore[arg-type]
