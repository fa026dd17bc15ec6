"""The names under which rules are switched are those that a user may write."""

from __future__ import annotations

from windtunnel.apiserver.core import Core
from windtunnel.apiserver.plugin_names import DEFAULT_PLUGINS, OPTIONAL_PLUGINS
from windtunnel.kernel import VirtualClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend


class Asked(set[str]):
    """A set that has everything, and remembers for what it was asked."""

    def __contains__(self, name: object) -> bool:
        self.add(str(name))
        return True


def test_every_plugin_that_can_be_switched_switches_a_rule_and_no_other_does() -> None:
    asked = Asked()
    clock = VirtualClock()

    Core(Store(MemoryBackend(), clock), Catalogue(builtin_kinds()), clock, admission_plugins=asked)

    assert sorted(asked) == sorted(DEFAULT_PLUGINS | OPTIONAL_PLUGINS)
