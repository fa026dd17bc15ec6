"""Programs in containers, joined to a client: outputs to him, input and window sizes from him.

``Talk`` is how a client is spoken to, over WebSocket channels or SPDY streams alike. How a program
ended is told last, as the protocol wants it: a Status, or a text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import BinaryIO, Final, Protocol

from windtunnel.machinery.tree import Tree, encode
from windtunnel.nodes.kubelet.runtime.protocol import Exec, ExecFailed
from windtunnel.nodes.kubelet.streams.beside import beside
from windtunnel.nodes.kubelet.streams.channels import (
    ERROR,
    RESIZE,
    STDERR,
    STDIN,
    STDOUT,
    Message,
)

_PIECE: Final = 32 * 1024


class Talk(Protocol):
    """Speaks to one client in channels."""

    statuses: bool
    """How it ended is told as a Status."""

    async def receive(self) -> Message | None:
        """Return what the client has sent; None when he has left."""
        ...

    async def send(self, channel: int, payload: bytes) -> None:
        """Send to the client, no faster than he reads; raises OSError when he has left."""
        ...

    async def close(self) -> None:
        """End the talk; harmless when the client has left."""
        ...


SUCCESS: Final[Tree] = {"metadata": {}, "status": "Success"}


def ending(exit_code: int) -> Tree:
    """Return the Status that tells how a program has ended."""
    if exit_code == 0:
        return SUCCESS
    return {
        "metadata": {},
        "status": "Failure",
        "message": "command terminated with non-zero exit code: "
        f"error executing command, exit code {exit_code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(exit_code)}]},
    }


def failure(why: str, doing: str) -> Tree:
    """Return the Status that tells why a program could not be run or attached to.

    The real one wraps its refusal twice, and kubectl shows it so.
    """
    text = f"Internal error occurred: error {doing} container: {why}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {text}",
        "reason": "InternalError",
        "details": {"causes": [{"message": text}]},
        "code": 500,
    }


async def converse(
    talk: Talk,
    begin: Callable[[], Exec],
    *,
    stdout: bool,
    stderr: bool,
    attached: bool = False,
) -> None:
    """Begin a program and join it to the client until one of them has gone.

    Args:
        talk: The client.
        begin: Runs the program, or opens the ends of one that runs; may block.
        stdout: The client wants to see its output.
        stderr: He wants to see its error output.
        attached: It ran before and goes on when the client leaves; how it ends is not told.
    """
    first = STDOUT if stdout else STDERR if stderr else ERROR
    try:
        await talk.send(first, b"")
        try:
            program = await beside(begin)
        except ExecFailed as error:
            doing = "attaching to" if attached else "executing command in"
            await _tell(talk, failure(str(error), doing))
            return
        status = await _joined(talk, program, stdout=stdout, stderr=stderr, attached=attached)
        if status is not None:
            await _tell(talk, status)
    except OSError:
        return  # the client has left
    finally:
        await talk.close()


async def _joined(
    talk: Talk, program: Exec, *, stdout: bool, stderr: bool, attached: bool
) -> Tree | None:
    """Return how the program has ended; None: the client has left."""
    loop = asyncio.get_running_loop()
    outputs: list[asyncio.Future[None]] = []
    if stdout:
        outputs.append(beside(partial(_drain, program.stdout, STDOUT, talk, loop)))
    if stderr and program.stderr is not None:
        outputs.append(beside(partial(_drain, program.stderr, STDERR, talk, loop)))
    listening = asyncio.create_task(_listen(talk, program))
    ended = asyncio.ensure_future(_ended(program, outputs, attached=attached))
    try:
        await asyncio.wait({listening, ended}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return ended.result()
        return None
    finally:
        listening.cancel()
        ended.cancel()
        unread = [
            program.stdin,
            None if stdout else program.stdout,
            None if stderr else program.stderr,
        ]
        await beside(partial(_abandon, program, [file for file in unread if file is not None]))


async def _ended(program: Exec, outputs: list[asyncio.Future[None]], *, attached: bool) -> Tree:
    if attached and outputs:
        await asyncio.gather(*outputs)
        return SUCCESS
    code = await beside(program.wait)
    await asyncio.gather(*outputs)
    return SUCCESS if attached else ending(code)


async def _listen(talk: Talk, program: Exec) -> None:
    """Pass on what the client sends until he leaves."""
    while (message := await talk.receive()) is not None:
        if message.channel == RESIZE:
            _resize(program, message.payload)
        elif message.channel == STDIN and program.stdin is not None:
            # A program that has closed its input, or ended, takes no more of it.
            with suppress(OSError, ValueError):
                if message.payload:
                    await beside(partial(_write_all, program.stdin, message.payload))
                if message.last:
                    await beside(program.stdin.close)


def _resize(program: Exec, payload: bytes) -> None:
    try:
        size = json.loads(payload)
        columns, rows = int(size["Width"]), int(size["Height"])
    except (ValueError, KeyError, TypeError):
        return
    if 0 < columns < 65536 and 0 < rows < 65536:
        program.resize(columns, rows)


def _write_all(file: BinaryIO, payload: bytes) -> None:
    rest = memoryview(payload)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def _drain(file: BinaryIO, channel: int, talk: Talk, loop: asyncio.AbstractEventLoop) -> None:
    """Send all that a program writes; on a thread, each piece when the one before is sent."""
    with file, suppress(OSError, ValueError, RuntimeError):
        while piece := file.read(_PIECE):
            asyncio.run_coroutine_threadsafe(talk.send(channel, piece), loop).result()


def _abandon(program: Exec, unread: Sequence[BinaryIO]) -> None:
    """End a program, and close the ends that nobody reads to their end."""
    program.kill()
    for file in unread:
        with suppress(OSError):
            file.close()


async def _tell(talk: Talk, status: Tree) -> None:
    if talk.statuses:
        await talk.send(ERROR, encode(status))
    elif status["status"] != "Success":
        await talk.send(ERROR, str(status["message"]).encode())
