"""One request on its way through the core: what is known of it after the first checks.

Everything minted for a request (time, uid, name suffix) is taken through ``Call`` so that a replay
of the same request, after a webhook has answered, mints the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from windtunnel.apiserver.forms.negotiation import Form
from windtunnel.apiserver.mint import Mint
from windtunnel.apiserver.request import Request
from windtunnel.apiserver.routes import Route
from windtunnel.kinds import Kind
from windtunnel.machinery.admission import Act, Ask, Operation, Petition, Reply, Spoken, User
from windtunnel.machinery.names import SUFFIX_LENGTH
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree

_LONGEST_BASE: Final = 63 - SUFFIX_LENGTH


class ReplyWanted(Exception):
    """The request cannot go on before an answer from outside is there."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask.key)
        self.ask = ask


@dataclass(slots=True)
class Call:
    """One request for one kind by a known user."""

    request: Request
    route: Route
    user: User
    kind: Kind
    now: float
    mint: Mint
    form: Form = field(default_factory=Form)
    manager: str = "unknown"
    dry_run: bool = False
    validation: str = "Warn"
    """What becomes of unknown and duplicate fields: Strict, Warn or Ignore."""
    trusted: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """The namespace in the path; a namespace itself lies in none."""
        return self.route.namespace if self.kind.namespaced else ""

    @property
    def key(self) -> Key:
        """Where the object named in the path is kept."""
        return Key(self.namespace, self.route.name)

    @property
    def timestamp(self) -> str:
        """The time of the request, as objects carry it."""
        return time_text(self.now)

    def once(self, purpose: str, make: Callable[[], Any]) -> Any:
        """Return what was made for this purpose, making it at the first time of asking."""
        memo = self.request.memo
        if purpose not in memo:
            memo[purpose] = make()
        return memo[purpose]

    def new_uid(self) -> str:
        """Return the uid of the object that this request creates."""
        uid: str = self.once("uid", self.mint.uid)
        return uid

    def generated_name(self, base: str) -> str:
        """Return the name made from a generateName."""
        tail: str = self.once("suffix", self.mint.suffix)
        return base[:_LONGEST_BASE] + tail

    def warn(self, text: str) -> None:
        """Tell the client something that is no refusal; the same text only once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def reply_to(self, ask: Ask) -> Reply:
        """Return the answer to a call outside.

        Raises:
            ReplyWanted: It has not been made yet.
        """
        reply = self.request.answers.get(ask.key)
        if reply is None:
            raise ReplyWanted(ask)
        return reply

    def petition(
        self,
        operation: Operation,
        name: str,
        new: Tree | None,
        old: Tree | None,
        options: Tree,
        subresource: str = "",
    ) -> Petition:
        """Return this write as the rules of admission see it."""
        kind = self.kind
        return Petition(
            act=act_of(kind, operation, subresource),
            name=name,
            namespace=self.namespace,
            new=new,
            old=old,
            user=self.user,
            options=options,
            warn=self.warn,
            ask=self.reply_to,
            once=self.once,
            dry_run=self.dry_run,
            trusted=self.trusted,
        )


def act_of(kind: Kind, operation: Operation, subresource: str = "") -> Act:
    """Return a sort of write to objects of a kind."""
    spoken = Spoken(kind.group, kind.version, kind.kind)
    if subresource and subresource != "status":
        part = kind.subresources.get(subresource)
        if part is not None:
            spoken = Spoken(part.group, part.version, part.kind)
    return Act(
        operation, kind.group, kind.version, kind.plural, kind.namespaced, spoken, subresource
    )
