"""A connection is closed in the end, whether its other end agrees or not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from windtunnel.client import farewell


class Writer:
    """A connection whose other end closes it, breaks it, or does nothing."""

    def __init__(self, other_end: Exception | None = None, *, silent: bool = False) -> None:
        self.told: list[str] = []
        self.transport: Any = self
        self._other_end, self._silent = other_end, silent

    def close(self) -> None:
        self.told.append("close")

    def abort(self) -> None:
        self.told.append("abort")

    async def wait_closed(self) -> None:
        if self._silent:
            await asyncio.Event().wait()
        if self._other_end is not None:
            raise self._other_end


ENDS = {
    "it closes, too": Writer(),
    "it has hung up": Writer(ConnectionResetError()),
    "it does nothing": Writer(silent=True),
}


@pytest.mark.parametrize("writer", ENDS.values(), ids=ENDS)
def test_a_connection_is_closed_when(writer: Any) -> None:
    asyncio.run(farewell.close(writer, 0.0))

    assert writer.told == ["close", "abort"]


def test_who_is_told_to_end_meanwhile_waits_no_longer() -> None:
    writer: Any = Writer(silent=True)

    async def cancelled() -> None:
        closing = asyncio.create_task(farewell.close(writer, 60.0))
        await asyncio.sleep(0)
        closing.cancel()
        await closing

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert writer.told == ["close", "abort"]
