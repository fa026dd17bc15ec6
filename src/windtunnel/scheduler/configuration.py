"""``KubeSchedulerConfiguration`` v1: read, checked, and made into profiles.

What is wrong is told in one sentence that names the place. Settings that concern the real program's
process only (leader election, profiling, client limits) are read and do nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import Struct

from windtunnel.errors import UsageError
from windtunnel.machinery.tree import Tree
from windtunnel.placement import PLUGINS, POINTS
from windtunnel.placement.arguments import Arguments
from windtunnel.scheduler.profile import Choice, PluginSet, Profile, make_profile

_API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
_KIND: Final = "KubeSchedulerConfiguration"


class _Plugin(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    weight: int = 0


class _PluginSet(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: tuple[_Plugin, ...] | None = None
    disabled: tuple[_Plugin, ...] | None = None


class _PluginConfig(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    args: dict[str, Any] | None = None


class _Profile(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    scheduler_name: str = "default-scheduler"
    percentage_of_nodes_to_score: int | None = None
    plugins: dict[str, _PluginSet] | None = None
    plugin_config: tuple[_PluginConfig, ...] | None = None


class _File(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    api_version: str = ""
    kind: str = ""
    percentage_of_nodes_to_score: int | None = None
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: tuple[_Profile, ...] = ()
    extenders: tuple[Any, ...] | None = None
    parallelism: int | None = None
    leader_election: Any = None
    client_connection: Any = None
    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    delay_cache_until_active: bool | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a scheduler is told to do."""

    profiles: tuple[Profile, ...]
    initial_backoff_seconds: int = 1
    max_backoff_seconds: int = 10


def read_configuration(tree: Tree | None = None) -> Configuration:
    """Return the configuration that a KubeSchedulerConfiguration object means; None: defaults.

    Raises:
        UsageError: It cannot be understood, or asks for what is not known.
    """
    tree = tree or {}
    version = tree.get("apiVersion", _API_VERSION)
    if version != _API_VERSION or tree.get("kind", _KIND) != _KIND:
        raise UsageError(
            f"scheduler configuration: expected {_KIND} of {_API_VERSION}, "
            f"got {tree.get('kind', 'nothing')} of {version}"
        )
    try:
        file = msgspec.convert(tree, _File)
    except msgspec.ValidationError as error:
        raise UsageError(f"scheduler configuration: {error}") from None
    if file.extenders:
        raise UsageError("scheduler configuration: extenders are not supported")
    _in_range("percentageOfNodesToScore", file.percentage_of_nodes_to_score or 0, 0, 100)
    if file.parallelism is not None:
        _in_range("parallelism", file.parallelism, 1, None)
    _in_range("podInitialBackoffSeconds", file.pod_initial_backoff_seconds, 1, None)
    _in_range(
        "podMaxBackoffSeconds", file.pod_max_backoff_seconds, file.pod_initial_backoff_seconds, None
    )
    profiles = tuple(
        _profile(profile, file.percentage_of_nodes_to_score or 0)
        for profile in file.profiles or (_Profile(),)
    )
    names = [profile.name for profile in profiles]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"scheduler configuration: two profiles are called {name}")
    return Configuration(profiles, file.pod_initial_backoff_seconds, file.pod_max_backoff_seconds)


def _profile(profile: _Profile, percentage: int) -> Profile:
    name = profile.scheduler_name
    sets: dict[str, PluginSet] = {}
    for point, plugins in (profile.plugins or {}).items():
        if point not in POINTS and point != "multiPoint":
            raise UsageError(f"profile {name}: there is no extension point {point}")
        enabled = [one.name for one in plugins.enabled or ()]
        twice = next((one for one in enabled if enabled.count(one) > 1), None)
        if twice is not None:
            raise UsageError(f"profile {name}: plugin {twice} is enabled twice at {point}")
        for one in plugins.enabled or ():
            _in_range(f"profile {name}: weight of {one.name}", one.weight, 0, None)
        sets[point] = PluginSet(
            tuple(Choice(one.name, one.weight) for one in plugins.enabled or ()),
            frozenset(one.name for one in plugins.disabled or ()),
        )
    arguments: dict[str, Arguments] = {}
    for config in profile.plugin_config or ():
        if config.name in arguments:
            raise UsageError(f"profile {name}: pluginConfig names {config.name} twice")
        row = PLUGINS.get(config.name)
        kind = row.arguments if row is not None else None
        if kind is None:
            raise UsageError(f"profile {name}: plugin {config.name} takes no arguments")
        try:
            arguments[config.name] = msgspec.convert(config.args or {}, kind)
        except msgspec.ValidationError as error:
            raise UsageError(f"profile {name}: arguments of {config.name}: {error}") from None
    own = profile.percentage_of_nodes_to_score
    _in_range(f"profile {name}: percentageOfNodesToScore", own or 0, 0, 100)
    return make_profile(name, sets, arguments, percentage if own is None else own)


def _in_range(what: str, value: int, least: int, most: int | None) -> None:
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" to {most}"
        lower = f"{least}{upper}" if upper else f"at least {least}"
        raise UsageError(f"scheduler configuration: {what} must be {lower}, not {value}")
