"""Profiles: which plugins act, in which order, with which weights and arguments.

The defaults are ``placement.PLUGINS``, in order; a configuration changes them as the real scheduler
merges plugin sets.

Source: kube-scheduler v1.36, MultiPoint expansion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from windtunnel.errors import UsageError
from windtunnel.placement import PLUGINS, RuleSet, make_rules
from windtunnel.placement.arguments import Arguments, DefaultPreemptionArgs


class Choice(NamedTuple):
    """A plugin that a configuration names, with the weight it gives it (0: none given)."""

    name: str
    weight: int = 0


class PluginSet(NamedTuple):
    """What a configuration says about one extension point."""

    enabled: tuple[Choice, ...] = ()
    disabled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Profile:
    """One scheduler name and how its pods are placed."""

    name: str
    rules: RuleSet
    post_filters: tuple[str, ...]
    gates: frozenset[str]
    preemption: DefaultPreemptionArgs


def make_profile(
    name: str,
    sets: Mapping[str, PluginSet],
    arguments: Mapping[str, Arguments],
    percentage: int,
) -> Profile:
    """Return the profile that a configuration's plugin sets and arguments make.

    Raises:
        UsageError: A plugin is unknown, or a needed kind of plugin is missing.
    """
    for point, plugins in sets.items():
        for plugin in plugins.enabled:
            if plugin.name not in PLUGINS:
                raise UsageError(
                    f"profile {name}: plugin {plugin.name} (enabled at {point}) is not known; "
                    f"known are {', '.join(PLUGINS)}"
                )
    everywhere = _merged(sets.get("multiPoint", PluginSet()))

    def at(point: str) -> list[Choice]:
        return _at_point(point, everywhere, sets.get(point, PluginSet()), name)

    if len(at("queueSort")) != 1:
        raise UsageError(f"profile {name}: exactly one queue sort plugin is needed (PrioritySort)")
    if not at("bind"):
        raise UsageError(f"profile {name}: at least one bind plugin is needed (DefaultBinder)")
    before = {plugin.name for plugin in at("preFilter")}
    filters = [
        one.name
        for one in at("filter")
        if one.name in before or "preFilter" not in PLUGINS[one.name].points
    ]
    scores = [(one.name, one.weight or 1) for one in at("score")]
    return Profile(
        name=name,
        rules=make_rules(filters, scores, arguments, percentage),
        post_filters=tuple(one.name for one in at("postFilter")),
        gates=frozenset(one.name for one in at("preEnqueue")),
        preemption=cast(
            DefaultPreemptionArgs, arguments.get("DefaultPreemption", DefaultPreemptionArgs())
        ),
    )


def _merged(custom: PluginSet) -> list[Choice]:
    """Merge a MultiPoint set into the defaults."""
    again = {plugin.name: plugin for plugin in custom.enabled}
    found: list[Choice] = []
    if "*" not in custom.disabled:
        found = [
            again.get(name, Choice(name, row.weight))
            for name, row in PLUGINS.items()
            if name not in custom.disabled
        ]
    named = {plugin.name for plugin in found}
    return found + [plugin for plugin in custom.enabled if plugin.name not in named]


def _at_point(
    point: str, everywhere: Sequence[Choice], custom: PluginSet, profile: str
) -> list[Choice]:
    """Return the plugins of one extension point, in order."""
    here = {plugin.name: plugin for plugin in custom.enabled}
    for name in here:
        if point not in PLUGINS[name].points:
            raise UsageError(f"profile {profile}: plugin {name} does not extend {point}")
    inherited: dict[str, Choice] = {}
    if "*" not in custom.disabled:
        inherited = {
            plugin.name: plugin
            for plugin in everywhere
            if point in PLUGINS[plugin.name].points and plugin.name not in custom.disabled
        }
    overriding = [plugin for plugin in custom.enabled if plugin.name in inherited]
    rest = [plugin for name, plugin in inherited.items() if name not in here]
    added = [plugin for plugin in custom.enabled if plugin.name not in inherited]
    return [*overriding, *rest, *added]
