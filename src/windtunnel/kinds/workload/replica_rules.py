"""What the rules of workload kinds have in common: templates, fixed selectors, counters of pods."""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.kinds.pod.template import validate_template
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative, not_more_than
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation


def validate_replica_template(template: Tree) -> list[Violation]:
    """Judge the pods of a ReplicaSet, made by hand or by a Deployment."""
    found = validate_template(template, "spec.template")
    return found + checks.always_restarts(template, "spec.template", "ReplicaSet")


def selector_stays(new: Tree, old: Tree) -> list[Violation]:
    """A selector may never change: what it has selected would belong to nobody."""
    selector, before = dig(new, "spec", "selector"), dig(old, "spec", "selector")
    return checks.immutable(selector, before, "spec.selector")


def validate_counters(
    status: Tree, keys: Iterable[str], of_all: Iterable[str], ready: str = "readyReplicas"
) -> list[Violation]:
    """Judge counters of pods: none below zero, and no part larger than the whole.

    Args:
        status: Where they stand.
        keys: All counters, in the order in which the real server looks at them.
        of_all: Those that may not exceed ``replicas``.
        ready: What the real server calls the limit of ``availableReplicas``.
    """
    found = none_negative(status, "status", *keys)
    for key in of_all:
        found += not_more_than(status, "status", key, "replicas", "status.replicas")
    return found + not_more_than(status, "status", "availableReplicas", "readyReplicas", ready)
