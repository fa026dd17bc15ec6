"""The chain: who has a say in which write, found once per sort of write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery.errors import Forbidden

Say = Callable[[Attempt], None]


class Plugin(Protocol):
    """One rule. It may change ``attempt.new`` in ``mutate``, and refuse in either."""

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Whether this sort of write is any of its business."""

    def mutate(self, attempt: Attempt) -> None:
        """Change the object, before it is validated."""

    def judge(self, attempt: Attempt) -> None:
        """Refuse the object, after it is validated."""


def forbid(attempt: Attempt, why: str) -> Forbidden:
    """Return the refusal of a write by a rule."""
    return Forbidden.of(attempt.kind.plural, attempt.kind.group, attempt.name, why)


class Admission:
    """All plugins, in order."""

    def __init__(self, chain: Sequence[Plugin]) -> None:
        self._chain = tuple(chain)
        self._says: dict[tuple[str, str, str], tuple[tuple[Say, ...], tuple[Say, ...]]] = {}

    def _of(self, attempt: Attempt) -> tuple[tuple[Say, ...], tuple[Say, ...]]:
        sort = (attempt.operation, attempt.kind.resource, attempt.subresource)
        found = self._says.get(sort)
        if found is None:
            concerned = [
                plugin
                for plugin in self._chain
                if plugin.concerns(attempt.operation, attempt.kind, attempt.subresource)
            ]
            found = self._says[sort] = (
                tuple(plugin.mutate for plugin in concerned),
                tuple(plugin.judge for plugin in concerned),
            )
        return found

    def mutate(self, attempt: Attempt) -> None:
        """Let every concerned plugin change the object.

        Raises:
            ApiError: One refuses.
        """
        for say in self._of(attempt)[0]:
            say(attempt)

    def judge(self, attempt: Attempt) -> None:
        """Let every concerned plugin judge the object.

        Raises:
            ApiError: One refuses.
        """
        for say in self._of(attempt)[1]:
            say(attempt)
