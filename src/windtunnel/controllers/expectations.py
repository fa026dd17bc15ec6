"""Expectations: how many of its own writes a controller has not yet seen come back.

In-process a write has come back before the call returns. Over HTTP the watch lags behind, and a
controller that counted pods too early would make some twice; so it waits until it has seen what it
did, or until five minutes have passed. Source: controller expectations of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from windtunnel.kernel import Clock

_FORGET_SECONDS: Final = 300.0


@dataclass(slots=True)
class _Expected:
    since: float
    creations: int = 0
    deletions: set[str] = field(default_factory=set)


class Expectations:
    """What is still to be seen, per owner."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expected: dict[Hashable, _Expected] = {}

    def met(self, owner: Hashable) -> bool:
        """Whether all that is expected of this owner was seen, or waited for long enough."""
        expected = self._expected.get(owner)
        if expected is None:
            return True
        done = expected.creations <= 0 and not expected.deletions
        if done or self._clock.now() - expected.since > _FORGET_SECONDS:
            del self._expected[owner]
            return True
        return False

    def expect_creation(self, owner: Hashable) -> None:
        """Expect one more object; call before it is written."""
        self._of(owner).creations += 1

    def expect_deletions(self, owner: Hashable, uids: Iterable[str]) -> None:
        """Expect these objects to go; call before that is written."""
        self._of(owner).deletions.update(uids)

    @contextmanager
    def creating(self, owner: Hashable) -> Iterator[None]:
        """Expect one more object, unless writing it fails."""
        self.expect_creation(owner)
        try:
            yield
        except BaseException:
            self.created(owner)
            raise

    @contextmanager
    def deleting(self, owner: Hashable, uid: str) -> Iterator[None]:
        """Expect this object to go, unless writing that fails."""
        self.expect_deletions(owner, [uid])
        try:
            yield
        except BaseException:
            self.deleted(owner, uid)
            raise

    def created(self, owner: Hashable) -> None:
        """One object was seen, or will never be."""
        expected = self._expected.get(owner)
        if expected is not None and expected.creations > 0:
            expected.creations -= 1

    def deleted(self, owner: Hashable, uid: str) -> None:
        """This object was seen going, or will not go."""
        expected = self._expected.get(owner)
        if expected is not None:
            expected.deletions.discard(uid)

    def forget(self, owner: Hashable) -> None:
        """The owner itself is gone."""
        self._expected.pop(owner, None)

    def _of(self, owner: Hashable) -> _Expected:
        return self._expected.setdefault(owner, _Expected(self._clock.now()))
