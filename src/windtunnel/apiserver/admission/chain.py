"""The chain: who has a say in which write, found once per sort of write."""

from __future__ import annotations

from collections.abc import Callable

from windtunnel.machinery.admission import Act, Panel, Petition

Say = Callable[[Petition], None]


class Chain:
    """All rules, in order."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._mutating: dict[Act, tuple[Say, ...]] = {}
        self._judging: dict[Act, tuple[Say, ...]] = {}

    def mutate(self, petition: Petition) -> None:
        """Let every concerned rule change the object.

        Raises:
            ApiError: One refuses.
        """
        act = petition.act
        says = self._mutating.get(act)
        if says is None:
            concerned = [rule for rule in self._panel.mutators if rule.concerns(act)]
            says = self._mutating[act] = tuple(rule.mutate for rule in concerned)
        for say in says:
            say(petition)

    def judge(self, petition: Petition) -> None:
        """Let every concerned rule judge the object.

        Raises:
            ApiError: One refuses.
        """
        act = petition.act
        says = self._judging.get(act)
        if says is None:
            concerned = [rule for rule in self._panel.judges if rule.concerns(act)]
            says = self._judging[act] = tuple(rule.judge for rule in concerned)
        for say in says:
            say(petition)
