"""The pool: pods that are alike stand together, all in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tests.build import gpus, pod

from windtunnel.machinery.tree import Key
from windtunnel.scheduler.pool import Pool
from windtunnel.scheduler.waiting import Waiting


def waiting(name: str, count: int = 1, priority: int = 0, rejector: str = "Fit") -> Waiting:
    one = pod(name, requests=gpus(count), priority=priority)
    return Waiting(one, 0.0, rejectors=frozenset({rejector}))


def names(found: Iterable[Waiting]) -> list[str]:
    return [one.pod.key.name for one in found]


def test_pods_that_are_alike_stand_together() -> None:
    pool = Pool()
    for one in (
        waiting("a"), waiting("b", 2), waiting("c"), waiting("d", priority=1),
        waiting("e", rejector="Taints"),
    ):  # fmt: skip
        pool.put(one)

    assert [names(group) for group in pool.groups()] == [["a", "c"], ["b"], ["d"], ["e"]]
    assert names(pool) == ["a", "b", "c", "d", "e"]


def test_a_pod_that_changes_keeps_its_place_and_joins_its_like() -> None:
    pool = Pool()
    first = waiting("a", 2)
    for one in (first, waiting("b"), waiting("c")):
        pool.put(one)

    changed = replace(first, pod=waiting("a").pod)
    pool.put(changed)

    (group,) = pool.groups()
    assert sorted(names(group)) == ["a", "b", "c"]
    assert names(pool) == ["a", "b", "c"]


def test_a_pod_that_leaves_is_forgotten_and_comes_last_when_it_returns() -> None:
    pool = Pool()
    for name in ("a", "b"):
        pool.put(waiting(name))

    pool.remove(Key("default", "a"))
    pool.remove(Key("default", "a"))
    assert names(pool) == ["b"]

    pool.put(waiting("a"))
    assert names(pool) == ["b", "a"]
