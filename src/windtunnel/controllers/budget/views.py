"""What controllers see of a PodDisruptionBudget."""

from __future__ import annotations

import msgspec

from windtunnel.controllers.views import Condition, Metadata, Selector, View


class BudgetSpec(View, frozen=True):
    """How many pods must stay."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: Selector | None = None


class BudgetStatus(View, frozen=True):
    """How many pods may go."""

    observed_generation: int = 0
    disrupted_pods: dict[str, str] = msgspec.field(default_factory=dict)
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    conditions: tuple[Condition, ...] = ()


class BudgetView(View, frozen=True):
    """A PodDisruptionBudget."""

    metadata: Metadata
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()
