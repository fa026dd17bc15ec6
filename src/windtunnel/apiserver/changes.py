"""Changes as our own parts see them: one value a version, shared by all who watch its kind.

Several parts watch pods; each write would otherwise make the same change once for each of them.
Delivery happens inside the write, so the last one made is the only one worth keeping.
"""

from __future__ import annotations

from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.kinds import Kind
from windtunnel.machinery.change import Change
from windtunnel.store import Version


class Changes:
    """Makes the change of a version."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._version: Version | None = None
        self._kind: Kind | None = None
        self._change: Change | None = None

    def of(self, kind: Kind, version: Version) -> Change:
        """Return the change that made this version, in the form of this kind."""
        change = self._change
        if change is None or version is not self._version or kind is not self._kind:
            body = self._objects.json(kind, version)
            at_hand = self._objects.at_hand if kind.from_stored is None else None
            change = Change(version.type, version.key, version.revision, body, at_hand)
            self._version, self._kind, self._change = version, kind, change
        return change
