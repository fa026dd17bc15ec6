"""Admission as a protocol: what a rule is told of a write, and what a rule looks like.

A rule sees a ``Petition`` and either changes the object before it is validated (``Mutator``) or
refuses it afterwards (``Judge``); many are both. It knows nothing of requests or stores, so the
same rule can serve inside the API server or answer webhooks. To refuse, raise an ``ApiError``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct

from windtunnel.machinery.errors import Forbidden
from windtunnel.machinery.tree import Tree

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(frozen=True, slots=True)
class User:
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_tree(self) -> Tree:
        """Return the user as reviews have them, without what is empty."""
        who: Tree = {"username": self.name}
        if self.uid:
            who["uid"] = self.uid
        if self.groups:
            who["groups"] = list(self.groups)
        if self.extra:
            who["extra"] = {key: list(values) for key, values in self.extra.items()}
        return who


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from outside for one Ask: a body, or why there is none."""

    status: int = 200
    body: bytes = b""
    error: str = ""
    """In words, when the call failed (``connection refused``); "" when it was answered."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A call that must be made outside before a write can go on."""

    key: str
    """Tells the asks of one request apart."""
    url: str
    body: bytes
    ca: bytes = b""
    """PEM of the authority that signed the server's certificate; b"": the machine's own."""
    timeout_seconds: float = 10.0
    server_name: str = ""
    """Whom the server's certificate must name where that is not the URL's host (a Service)."""


class Spoken(NamedTuple):
    """What an object says of itself."""

    group: str
    version: str
    kind: str


class Act(NamedTuple):
    """A sort of write: what is done to which resource. Which rules it concerns never changes."""

    operation: Operation
    group: str
    version: str
    plural: str
    namespaced: bool
    spoken: Spoken
    """The kind of the body: the resource's own, or the subresource's (``Eviction``)."""
    subresource: str = ""

    @property
    def resource(self) -> str:
        """``deployments.apps``, or ``pods`` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Petition(Struct, frozen=True, kw_only=True):
    """One write that asks to be admitted. Mutators change ``new`` in place.

    A struct, for one is made at every write.
    """

    act: Act
    name: str
    namespace: str
    new: Tree | None
    """None for a delete."""
    old: Tree | None
    """None for a create."""
    user: User
    options: Tree
    """The CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request."""
    warn: Callable[[str], None]
    """Tells the client something that is no refusal."""
    ask: Callable[[Ask], Reply]
    """Calls outside. Where the reply is not there yet, the write is left, and made again later."""
    once: Callable[[str, Callable[[], Any]], Any]
    """(purpose, make): keeps what was made at random, for the write may be made again."""
    dry_run: bool = False
    """Nothing may come of it."""
    trusted: bool = False
    """Written by a part of the cluster itself."""

    def refusal(self, why: str) -> Forbidden:
        """Return the error for a rule that says no."""
        return Forbidden.of(self.act.plural, self.act.group, self.name, why)


class Mutator(Protocol):
    """A rule that changes objects before they are validated; it may refuse too."""

    def concerns(self, act: Act) -> bool:
        """Whether this sort of write is any of its business."""

    def mutate(self, petition: Petition) -> None:
        """Change ``petition.new``."""


class Judge(Protocol):
    """A rule that refuses objects after they are validated."""

    def concerns(self, act: Act) -> bool:
        """Whether this sort of write is any of its business."""

    def judge(self, petition: Petition) -> None:
        """Refuse the write by raising an ``ApiError``, or let it pass."""


class Panel(NamedTuple):
    """The rules of one room, in order."""

    mutators: Sequence[Mutator] = ()
    judges: Sequence[Judge] = ()
