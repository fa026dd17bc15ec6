"""A whole cluster in virtual time: the same core and the same parts over memory, and no server.

Nothing waits, nothing listens, no second thread: time passes when ``run`` says so, as fast as the
steps can be played. Whatever is drawn by lot or minted comes from the seed, so the same seed and
the same calls make the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from windtunnel.apiserver import DEFAULT_PLUGINS, Core, LocalClient, seeded_mint
from windtunnel.assembly.furnish import provide_account
from windtunnel.assembly.parts import Parts, PartSettings
from windtunnel.kernel import Chance, Loop, VirtualClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.nodes import PoolOrder
from windtunnel.nodes.orders import provide_pool
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend

START: Final = 1_800_000_000.0
"""2027-01-15T08:00:00Z: a whole number of hours, in no year of anybody's."""
HOST: Final = "virtual"
"""What stands for the machine's name in events, where settings name none."""


class Virtual:
    """A cluster that is a value: made in a process, played, looked at, dropped."""

    def __init__(
        self,
        seed: int = 0,
        settings: PartSettings | None = None,
        *,
        pools: Sequence[PoolOrder] = (),
        admission_plugins: AbstractSet[str] = DEFAULT_PLUGINS,
        start: float = START,
    ) -> None:
        """Make the cluster and start its parts; the first steps are played by ``run``.

        Args:
            seed: From which everything comes that is drawn by lot or minted.
            settings: Which parts there are, and how they are set; no host is ``HOST``.
            pools: Nodes that are there from the start.
            admission_plugins: Names of those that are on.
            start: The time at which it begins, in seconds since the epoch.
        """
        chance = Chance(seed)
        self.clock = VirtualClock(start)
        self.failures: list[tuple[str, object, Exception]] = []
        """(part, key, error) of every step that failed and was to be tried again."""
        self.loop = Loop(self.clock, self._failed)
        self.store = Store(MemoryBackend(), self.clock)
        self.core = Core(
            self.store,
            Catalogue(builtin_kinds()),
            self.clock,
            mint=seeded_mint(chance),
            admission_plugins=admission_plugins,
        )
        settings = settings or PartSettings()
        client = self.client("windtunnel")
        for order in pools:
            provide_pool(client, order)
        provide_account(client, settings.without)
        host = HOST if settings.host is None else settings.host
        self.parts = Parts(self.client, self.loop, replace(settings, host=host), chance)
        self.parts.start()

    def client(self, name: str) -> LocalClient:
        """Return a client for a component or a user of this name."""
        return LocalClient(self.core, f"system:{name}", name)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.loop.run_virtual(self.clock.now() + seconds)

    def _failed(self, part: str, key: object, error: Exception) -> None:
        self.failures.append((part, key, error))
