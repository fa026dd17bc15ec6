"""Profiles: which rules run, in which order, with which weights and arguments.

The default profile is the table below, in order; a configuration changes it as the real scheduler
merges plugin sets. Rules are made here from their arguments and nowhere else.

Source: kube-scheduler v1.36, default plugins and MultiPoint expansion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from windtunnel.errors import UsageError
from windtunnel.fleet import NodeChoice, node_terms, preferred_node_terms
from windtunnel.fleet.pod_terms import spread_constraint
from windtunnel.placement import Filter, RowScore, SetScore
from windtunnel.placement.rules.balanced_allocation import BalancedAllocation
from windtunnel.placement.rules.dynamic_resources import DynamicResources
from windtunnel.placement.rules.image_locality import ImageLocality
from windtunnel.placement.rules.inter_pod_affinity import InterPodAffinity
from windtunnel.placement.rules.node_affinity import NodeAffinity
from windtunnel.placement.rules.node_name import NodeName
from windtunnel.placement.rules.node_ports import NodePorts
from windtunnel.placement.rules.node_unschedulable import NodeUnschedulable
from windtunnel.placement.rules.resource_fit import ResourceFit, Strategy
from windtunnel.placement.rules.taint_toleration import TaintToleration
from windtunnel.placement.rules.topology_spread import TopologySpread
from windtunnel.scheduler import arguments as args


class Plugin(NamedTuple):
    """One entry of a plugin set."""

    name: str
    weight: int = 0


class PluginSet(NamedTuple):
    """What a configuration says about one extension point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: frozenset[str] = frozenset()


class _Default(NamedTuple):
    weight: int
    points: frozenset[str]


def _points(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DEFAULTS: Final[Mapping[str, _Default]] = {
    "SchedulingGates": _Default(0, _points("preEnqueue")),
    "PrioritySort": _Default(0, _points("queueSort")),
    "NodeUnschedulable": _Default(0, _points("filter")),
    "NodeName": _Default(0, _points("filter")),
    "TaintToleration": _Default(3, _points("filter preScore score")),
    "NodeAffinity": _Default(2, _points("preFilter filter preScore score")),
    "NodePorts": _Default(0, _points("preFilter filter")),
    "NodeResourcesFit": _Default(1, _points("preFilter filter preScore score")),
    "VolumeRestrictions": _Default(0, _points("preFilter filter")),
    "NodeVolumeLimits": _Default(0, _points("preFilter filter")),
    "VolumeBinding": _Default(0, _points("preFilter filter preScore score reserve preBind")),
    "VolumeZone": _Default(0, _points("preFilter filter")),
    "PodTopologySpread": _Default(2, _points("preFilter filter preScore score")),
    "InterPodAffinity": _Default(2, _points("preFilter filter preScore score")),
    "DynamicResources": _Default(
        2, _points("preEnqueue preFilter filter postFilter score reserve preBind")
    ),
    "DefaultPreemption": _Default(0, _points("preEnqueue postFilter")),
    "NodeResourcesBalancedAllocation": _Default(1, _points("preScore score")),
    "ImageLocality": _Default(1, _points("score")),
    "DefaultBinder": _Default(0, _points("bind")),
    "NodeDeclaredFeatures": _Default(0, _points("preFilter filter")),
}

POINTS: Final = _points(
    "preEnqueue queueSort preFilter filter postFilter preScore score reserve permit preBind bind"
    " postBind"
)


@dataclass(frozen=True, slots=True)
class Profile:
    """One scheduler name and how its pods are placed."""

    name: str
    filters: tuple[Filter, ...]
    row_scores: tuple[tuple[RowScore, int], ...]
    set_scores: tuple[tuple[SetScore, int], ...]
    percentage: int
    """percentageOfNodesToScore; 0 adapts to the size of the cluster."""
    post_filters: tuple[str, ...]
    gates: frozenset[str]
    preemption: args.DefaultPreemptionArgs

    @property
    def scores_anything(self) -> bool:
        """Without any score the first feasible node is taken."""
        return bool(self.row_scores or self.set_scores)

    def filter(self, name: str) -> Filter | None:
        """Return the filter of that name."""
        return next((one for one in self.filters if one.name == name), None)


def make_profile(
    name: str,
    sets: Mapping[str, PluginSet],
    arguments: Mapping[str, args.Arguments],
    percentage: int,
) -> Profile:
    """Return the profile that a configuration's plugin sets and arguments make.

    Raises:
        UsageError: A plugin is unknown, or a needed kind of plugin is missing.
    """
    for point, plugins in sets.items():
        for plugin in plugins.enabled:
            if plugin.name not in _DEFAULTS:
                raise UsageError(
                    f"profile {name}: plugin {plugin.name} (enabled at {point}) is not known; "
                    f"known are {', '.join(_DEFAULTS)}"
                )
    everywhere = _merged(sets.get("multiPoint", PluginSet()))

    def at(point: str) -> list[Plugin]:
        return _at_point(point, everywhere, sets.get(point, PluginSet()), name)

    if len(at("queueSort")) != 1:
        raise UsageError(f"profile {name}: exactly one queue sort plugin is needed (PrioritySort)")
    if not at("bind"):
        raise UsageError(f"profile {name}: at least one bind plugin is needed (DefaultBinder)")
    made = {plugin: make(arguments) for plugin, make in _MAKERS.items()}
    before = {plugin.name for plugin in at("preFilter")}
    scores = [(made[one.name], one.weight or 1) for one in at("score") if one.name in made]
    return Profile(
        name=name,
        filters=tuple(
            cast(Filter, made[one.name])
            for one in at("filter")
            if one.name in made
            and (one.name in before or "preFilter" not in _DEFAULTS[one.name].points)
        ),
        row_scores=tuple((one, weight) for one, weight in scores if hasattr(one, "rate")),
        set_scores=tuple((one, weight) for one, weight in scores if hasattr(one, "compare")),
        percentage=percentage,
        post_filters=tuple(one.name for one in at("postFilter")),
        gates=frozenset(one.name for one in at("preEnqueue")),
        preemption=cast(
            args.DefaultPreemptionArgs,
            arguments.get("DefaultPreemption", args.DefaultPreemptionArgs()),
        ),
    )


def _merged(custom: PluginSet) -> list[Plugin]:
    """Merge a MultiPoint set into the defaults."""
    again = {plugin.name: plugin for plugin in custom.enabled}
    found: list[Plugin] = []
    if "*" not in custom.disabled:
        found = [
            again.get(name, Plugin(name, default.weight))
            for name, default in _DEFAULTS.items()
            if name not in custom.disabled
        ]
    named = {plugin.name for plugin in found}
    return found + [plugin for plugin in custom.enabled if plugin.name not in named]


def _at_point(
    point: str, everywhere: Sequence[Plugin], custom: PluginSet, profile: str
) -> list[Plugin]:
    """Return the plugins of one extension point, in order."""
    here = {plugin.name: plugin for plugin in custom.enabled}
    for name in here:
        if point not in _DEFAULTS[name].points:
            raise UsageError(f"profile {profile}: plugin {name} does not extend {point}")
    inherited: dict[str, Plugin] = {}
    if "*" not in custom.disabled:
        inherited = {
            plugin.name: plugin
            for plugin in everywhere
            if point in _DEFAULTS[plugin.name].points and plugin.name not in custom.disabled
        }
    overriding = [plugin for plugin in custom.enabled if plugin.name in inherited]
    rest = [plugin for name, plugin in inherited.items() if name not in here]
    added = [plugin for plugin in custom.enabled if plugin.name not in inherited]
    return [*overriding, *rest, *added]


_Given = Mapping[str, args.Arguments]


def _fit(given: _Given) -> ResourceFit:
    found = cast(args.NodeResourcesFitArgs | None, given.get("NodeResourcesFit"))
    if found is None:
        return ResourceFit()
    wanted = found.scoring_strategy
    shape = wanted.requested_to_capacity_ratio.shape if wanted.requested_to_capacity_ratio else ()
    return ResourceFit(
        Strategy(
            wanted.type,
            tuple((one.name, one.weight or 1) for one in wanted.resources),
            tuple((point.utilization, point.score) for point in shape),
        ),
        frozenset(found.ignored_resources),
        frozenset(found.ignored_resource_groups),
    )


def _balanced(given: _Given) -> BalancedAllocation:
    found = cast(
        args.NodeResourcesBalancedAllocationArgs | None,
        given.get("NodeResourcesBalancedAllocation"),
    )
    if found is None:
        return BalancedAllocation()
    return BalancedAllocation(tuple(one.name for one in found.resources))


def _node_affinity(given: _Given) -> NodeAffinity:
    found = cast(args.NodeAffinityArgs | None, given.get("NodeAffinity"))
    added = (found.added_affinity if found is not None else None) or {}
    required = added.get("requiredDuringSchedulingIgnoredDuringExecution")
    return NodeAffinity(NodeChoice(terms=node_terms(required)), preferred_node_terms(added))


def _spread(given: _Given) -> TopologySpread:
    found = cast(args.PodTopologySpreadArgs | None, given.get("PodTopologySpread"))
    if found is None or found.defaulting_type == "System":
        return TopologySpread()
    constraints = tuple(spread_constraint(tree, {}) for tree in found.default_constraints)
    return TopologySpread(constraints, system_defaults=False)


def _inter_pod(given: _Given) -> InterPodAffinity:
    found = cast(args.InterPodAffinityArgs | None, given.get("InterPodAffinity"))
    if found is None:
        return InterPodAffinity()
    return InterPodAffinity(
        found.hard_pod_affinity_weight, found.ignore_preferred_terms_of_existing_pods
    )


_MAKERS: Final[Mapping[str, Callable[[_Given], Any]]] = {
    "NodeUnschedulable": lambda given: NodeUnschedulable(),
    "NodeName": lambda given: NodeName(),
    "TaintToleration": lambda given: TaintToleration(),
    "NodeAffinity": _node_affinity,
    "NodePorts": lambda given: NodePorts(),
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _inter_pod,
    "DynamicResources": lambda given: DynamicResources(),
    "NodeResourcesBalancedAllocation": _balanced,
    "ImageLocality": lambda given: ImageLocality(),
}
