"""Arguments of plugins, as ``pluginConfig`` writes them; unknown fields are refused.

Source: kubescheduler.config.k8s.io/v1, with its defaults.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, Literal

from msgspec import Struct, field


class Arguments(
    Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """What all arguments have in common."""

    api_version: str = ""
    kind: str = ""


class ResourceSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A resource and its weight in a score."""

    name: str
    weight: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.weight <= 100:
            raise ValueError(f"weight of {self.name} must be 1 to 100")


class UtilizationPoint(Struct, frozen=True, forbid_unknown_fields=True):
    """One point of a broken line: per cent in use, score 0 to 10."""

    utilization: int = 0
    score: int = 0


class RequestedToCapacityRatio(Struct, frozen=True, forbid_unknown_fields=True):
    """The broken line of the strategy of that name."""

    shape: tuple[UtilizationPoint, ...] = ()


_CPU_AND_MEMORY: Final = (ResourceSpec("cpu"), ResourceSpec("memory"))


class ScoringStrategy(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """How full nodes should become."""

    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    resources: tuple[ResourceSpec, ...] = _CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None


class NodeResourcesFitArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of NodeResourcesFit."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy()

    def __post_init__(self) -> None:
        strategy = self.scoring_strategy
        ratio = strategy.requested_to_capacity_ratio
        if strategy.type == "RequestedToCapacityRatio":
            points = [point.utilization for point in ratio.shape] if ratio else []
            if not points:
                raise ValueError("requestedToCapacityRatio.shape needs at least one point")
            if any(left >= right for left, right in pairwise(points)):
                raise ValueError("utilizations of requestedToCapacityRatio.shape must increase")
            if ratio and any(
                not (0 <= point.utilization <= 100 and 0 <= point.score <= 10)
                for point in ratio.shape
            ):
                raise ValueError("a point needs a utilization of 0 to 100 and a score of 0 to 10")


class NodeResourcesBalancedAllocationArgs(Arguments, frozen=True, kw_only=True):
    """Arguments of NodeResourcesBalancedAllocation."""

    resources: tuple[ResourceSpec, ...] = _CPU_AND_MEMORY


class NodeAffinityArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of NodeAffinity."""

    added_affinity: dict[str, Any] | None = None


class PodTopologySpreadArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of PodTopologySpread."""

    default_constraints: tuple[dict[str, Any], ...] = ()
    defaulting_type: Literal["System", "List"] = "System"

    def __post_init__(self) -> None:
        if self.defaulting_type == "System" and self.default_constraints:
            raise ValueError("defaultConstraints need defaultingType List")
        seen = set()
        for constraint in self.default_constraints:
            skew, key = constraint.get("maxSkew"), constraint.get("topologyKey")
            otherwise = constraint.get("whenUnsatisfiable")
            if not isinstance(skew, int) or skew < 1:
                raise ValueError("maxSkew of a default constraint must be greater than 0")
            if not key:
                raise ValueError("a default constraint needs a topologyKey")
            if otherwise not in ("DoNotSchedule", "ScheduleAnyway"):
                raise ValueError(
                    "whenUnsatisfiable of a default constraint is DoNotSchedule or ScheduleAnyway"
                )
            if constraint.get("labelSelector"):
                raise ValueError("a default constraint has no selector: each pod's own is used")
            if (key, otherwise) in seen:
                raise ValueError(f"two default constraints say {otherwise} for {key}")
            seen.add((key, otherwise))


class InterPodAffinityArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of InterPodAffinity."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.hard_pod_affinity_weight <= 100:
            raise ValueError("hardPodAffinityWeight must be 0 to 100")


class DefaultPreemptionArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of DefaultPreemption: how many nodes are tried."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    def __post_init__(self) -> None:
        if not 0 <= self.min_candidate_nodes_percentage <= 100:
            raise ValueError("minCandidateNodesPercentage must be 0 to 100")
        if self.min_candidate_nodes_absolute < 0:
            raise ValueError("minCandidateNodesAbsolute must not be negative")
        if not self.min_candidate_nodes_percentage and not self.min_candidate_nodes_absolute:
            raise ValueError(
                "minCandidateNodesPercentage and minCandidateNodesAbsolute must not both be 0"
            )


class VolumeBindingArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of VolumeBinding; read, but volumes are not judged."""

    bind_timeout_seconds: int | None = None
    shape: tuple[UtilizationPoint, ...] | None = None


class DynamicResourcesArgs(Arguments, frozen=True, kw_only=True, rename="camel"):
    """Arguments of DynamicResources; read, but claims are not judged."""

    filter_timeout: str | None = field(default=None)
    binding_timeout: str | None = field(default=None)
