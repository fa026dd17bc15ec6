"""Parking: what becomes of a write of ours that has to ask a webhook.

The caller is told how to wait (``Parked``). Once the reply is there the same write, made again,
finds the request it left and goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from windtunnel.apiserver.call import ReplyWanted
from windtunnel.apiserver.request import Request
from windtunnel.kernel import Parked
from windtunnel.machinery.admission import Ask, Reply
from windtunnel.machinery.tree import Key

StartAsk = Callable[[Ask, Callable[[Reply], None]], None]
"""Makes a call outside and tells when the reply is there."""

WriteKey = tuple[str, str, Key, str]
"""Verb, resource, key and subresource of a write: what makes it the same write again."""

_Result = TypeVar("_Result")
_NOBODY_ASKS: Final = Reply(error="nothing can be asked from within this cluster")


class Parking:
    """The writes of one client that wait for replies."""

    def __init__(self, start: StartAsk | None) -> None:
        """Make it empty; without ``start`` nothing can be asked, and asks fail."""
        self._start = start
        self._left: dict[WriteKey, Request] = {}

    def request(self, write_key: WriteKey) -> Request:
        """Return the request that this write goes on with: the one it left, or a fresh one."""
        left = self._left.pop(write_key, None) if self._left else None
        return left or Request(write_key[0], "", trusted=True)

    def run(self, write_key: WriteKey, request: Request, write: Callable[[], _Result]) -> _Result:
        """Return what a write returns.

        Raises:
            Parked: It waits for a reply.
            ApiError: Somebody refuses.
        """
        try:
            return write()
        except ReplyWanted as wanted:
            ask = wanted.ask
        if self._start is None:
            request.answers[ask.key] = _NOBODY_ASKS
            return self.run(write_key, request, write)
        self._left[write_key] = request
        waiting: list[Callable[[], None]] = []

        def done(reply: Reply) -> None:
            request.answers[ask.key] = reply
            for each in waiting:
                each()

        self._start(ask, done)
        raise Parked(waiting.append)
