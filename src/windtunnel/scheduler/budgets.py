"""Pod disruption budgets as preemption reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from windtunnel.fleet import PodView
from windtunnel.machinery.selectors import LabelSelector
from windtunnel.machinery.tree import Key, Tree, dig, key_of


@dataclass(frozen=True, slots=True)
class Budget:
    """One PodDisruptionBudget."""

    key: Key
    selector: LabelSelector
    allowed: int
    disrupted: frozenset[str] = frozenset()
    """Pods whose disruption is already counted."""

    def covers(self, pod: PodView) -> bool:
        """Say whether evicting the pod now would use the budget."""
        return (
            pod.key.namespace == self.key.namespace
            and not self.selector.empty
            and self.selector.matches(pod.shape.labels)
            and pod.key.name not in self.disrupted
        )


def read_budget(tree: Tree) -> Budget:
    """Return the budget that a PodDisruptionBudget object is."""
    return Budget(
        key_of(tree),
        LabelSelector.from_tree(dig(tree, "spec", "selector")),
        dig(tree, "status", "disruptionsAllowed") or 0,
        frozenset(dig(tree, "status", "disruptedPods") or ()),
    )


def violating(pods: Sequence[PodView], budgets: Iterable[Budget]) -> list[bool]:
    """Say of each pod, in order, whether evicting it and all before it breaks a budget."""
    left = {budget: budget.allowed for budget in budgets}
    found = []
    for pod in pods:
        breaks = False
        if pod.shape.labels:
            for budget in left:
                if budget.covers(pod):
                    left[budget] -= 1
                    breaks = breaks or left[budget] < 0
        found.append(breaks)
    return found
