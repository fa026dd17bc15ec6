"""Every plugin of the real scheduler in one table: where it acts, what it weighs, how it is made.

Rows stand in the default order. A rule is made here from its arguments and nowhere else. A plugin
whose answers are not imitated says so in its row; nothing is left out in silence.

Source: kube-scheduler v1.36, default plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar, cast

from windtunnel.errors import BrokenInvariant
from windtunnel.fleet import NodeChoice, node_terms, preferred_node_terms, spread_constraint
from windtunnel.placement import arguments as args
from windtunnel.placement.rule import Filter, RowScore, RuleSet, SetScore
from windtunnel.placement.rules.balanced_allocation import BalancedAllocation
from windtunnel.placement.rules.dynamic_resources import DynamicResources
from windtunnel.placement.rules.image_locality import ImageLocality
from windtunnel.placement.rules.inter_pod_affinity import InterPodAffinity
from windtunnel.placement.rules.node_affinity import NodeAffinity
from windtunnel.placement.rules.node_declared_features import NodeDeclaredFeatures
from windtunnel.placement.rules.node_name import NodeName
from windtunnel.placement.rules.node_ports import NodePorts
from windtunnel.placement.rules.node_unschedulable import NodeUnschedulable
from windtunnel.placement.rules.resource_fit import FitStrategy, ResourceFit
from windtunnel.placement.rules.taint_toleration import TaintToleration
from windtunnel.placement.rules.topology_spread import TopologySpread

_Given = TypeVar("_Given", bound=args.Arguments)


class Plugin(NamedTuple):
    """One row of the table."""

    points: frozenset[str]
    """The extension points at which it is asked."""
    weight: int = 0
    """What its score weighs by default."""
    arguments: type[args.Arguments] | None = None
    """None where it takes none."""
    make: Callable[[Any], object] | None = None
    """Makes the rule from its arguments; None where the plugin judges no nodes."""


def _points(text: str) -> frozenset[str]:
    return frozenset(text.split())


POINTS: Final = _points(
    "preEnqueue queueSort preFilter filter postFilter preScore score reserve permit preBind bind"
    " postBind"
)
_JUDGING: Final = _points("filter score")


def _rule(points: str, weight: int, make: Callable[[], object]) -> Plugin:
    return Plugin(_points(points), weight, make=lambda _: make())


def _rule_from(
    points: str, weight: int, arguments: type[_Given], make: Callable[[_Given], object]
) -> Plugin:
    return Plugin(_points(points), weight, arguments, make)


def _not_judged(points: str, arguments: type[args.Arguments] | None = None) -> Plugin:
    """Return the row of a plugin that is known by name only: it lets every node pass."""
    return Plugin(_points(points), 0, arguments)


def _elsewhere(points: str, arguments: type[args.Arguments] | None = None) -> Plugin:
    """Return the row of a plugin that judges no nodes: its place is before or after the search."""
    plugin = Plugin(_points(points), 0, arguments)
    if plugin.points & _JUDGING:
        raise BrokenInvariant(f"a plugin at {points} judges nodes: it needs a rule")
    return plugin


def _fit(given: args.NodeResourcesFitArgs) -> ResourceFit:
    wanted = given.scoring_strategy
    shape = wanted.requested_to_capacity_ratio.shape if wanted.requested_to_capacity_ratio else ()
    return ResourceFit(
        FitStrategy(
            wanted.type,
            tuple((one.name, one.weight or 1) for one in wanted.resources),
            tuple((point.utilization, point.score) for point in shape),
        ),
        frozenset(given.ignored_resources),
        frozenset(given.ignored_resource_groups),
    )


def _balanced(given: args.NodeResourcesBalancedAllocationArgs) -> BalancedAllocation:
    return BalancedAllocation(tuple(one.name for one in given.resources))


def _node_affinity(given: args.NodeAffinityArgs) -> NodeAffinity:
    added = given.added_affinity or {}
    required = added.get("requiredDuringSchedulingIgnoredDuringExecution")
    return NodeAffinity(NodeChoice(terms=node_terms(required)), preferred_node_terms(added))


def _spread(given: args.PodTopologySpreadArgs) -> TopologySpread:
    if given.defaulting_type == "System":
        return TopologySpread()
    constraints = tuple(spread_constraint(tree, {}) for tree in given.default_constraints)
    return TopologySpread(constraints, system_defaults=False)


def _inter_pod(given: args.InterPodAffinityArgs) -> InterPodAffinity:
    return InterPodAffinity(
        given.hard_pod_affinity_weight, given.ignore_preferred_terms_of_existing_pods
    )


_SCORED = "preFilter filter preScore score"

PLUGINS: Final[Mapping[str, Plugin]] = {
    "SchedulingGates": _elsewhere("preEnqueue"),
    "PrioritySort": _elsewhere("queueSort"),
    "NodeUnschedulable": _rule("filter", 0, NodeUnschedulable),
    "NodeName": _rule("filter", 0, NodeName),
    "TaintToleration": _rule("filter preScore score", 3, TaintToleration),
    "NodeAffinity": _rule_from(_SCORED, 2, args.NodeAffinityArgs, _node_affinity),
    "NodePorts": _rule("preFilter filter", 0, NodePorts),
    "NodeResourcesFit": _rule_from(_SCORED, 1, args.NodeResourcesFitArgs, _fit),
    "VolumeRestrictions": _not_judged("preFilter filter"),
    "NodeVolumeLimits": _not_judged("preFilter filter"),
    "VolumeBinding": _not_judged(f"{_SCORED} reserve preBind", args.VolumeBindingArgs),
    "VolumeZone": _not_judged("preFilter filter"),
    "PodTopologySpread": _rule_from(_SCORED, 2, args.PodTopologySpreadArgs, _spread),
    "InterPodAffinity": _rule_from(_SCORED, 2, args.InterPodAffinityArgs, _inter_pod),
    "DynamicResources": _rule_from(
        "preEnqueue preFilter filter postFilter score reserve preBind",
        2,
        args.DynamicResourcesArgs,
        lambda _: DynamicResources(),
    ),
    "DefaultPreemption": _elsewhere("preEnqueue postFilter", args.DefaultPreemptionArgs),
    "NodeResourcesBalancedAllocation": _rule_from(
        "preScore score", 1, args.NodeResourcesBalancedAllocationArgs, _balanced
    ),
    "ImageLocality": _rule("score", 1, ImageLocality),
    "DefaultBinder": _elsewhere("bind"),
    "NodeDeclaredFeatures": _rule("preFilter filter", 0, NodeDeclaredFeatures),
}
"""The default plugins, in order."""


def make_rules(
    filters: Sequence[str] | None = None,
    scores: Sequence[tuple[str, int]] | None = None,
    arguments: Mapping[str, args.Arguments] | None = None,
    percentage: int = 0,
) -> RuleSet:
    """Return the rules that plugins stand for.

    Args:
        filters: Names, in order; None: all defaults.
        scores: Names and weights, in order; None: all defaults.
        arguments: By name; a rule without any gets the real scheduler's.
        percentage: How many nodes a search looks at, see ``RuleSet``.
    """
    if filters is None:
        filters = [name for name, row in PLUGINS.items() if "filter" in row.points]
    if scores is None:
        scores = [(name, row.weight) for name, row in PLUGINS.items() if "score" in row.points]
    made: dict[str, object] = {}
    for name in dict.fromkeys([*filters, *(name for name, _ in scores)]):
        row = PLUGINS[name]
        if row.make is not None:
            default = row.arguments() if row.arguments is not None else None
            made[name] = row.make((arguments or {}).get(name, default))
    weighed = [(made[name], weight) for name, weight in scores if name in made]
    return RuleSet(
        filters=tuple(cast(Filter, made[name]) for name in filters if name in made),
        row_scores=tuple(
            (cast(RowScore, one), weight) for one, weight in weighed if hasattr(one, "rate")
        ),
        set_scores=tuple(
            (cast(SetScore, one), weight) for one, weight in weighed if hasattr(one, "compare")
        ),
        percentage=percentage,
    )
