"""Requests that concern one pod or container: programs, logs, forwarded ports.

Paths end in ``namespace/pod[/uid]/container``. What can be refused is refused before anything is
upgraded, as plain text with the kubelet's words: the API server and kubectl show it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from windtunnel.kernel import Clock
from windtunnel.machinery.errors import ApiError, BadRequest, InternalError, NotFound
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.network import served_at
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerRecord,
    ContainerState,
    Exec,
    ExecFailed,
    ExecTimedOut,
    Runtime,
)
from windtunnel.nodes.kubelet.streams import channels, log_choice
from windtunnel.nodes.kubelet.streams.beside import beside
from windtunnel.nodes.kubelet.streams.channels import ERROR, RESIZE, STDERR, STDIN, STDOUT
from windtunnel.nodes.kubelet.streams.forwarding import SpdyForwarding, Target, forward_channels
from windtunnel.nodes.kubelet.streams.http import TEXT, Exchange
from windtunnel.nodes.kubelet.streams.logs import LogOptions, NoLog, send_log
from windtunnel.nodes.kubelet.streams.programs import Talk, converse
from windtunnel.nodes.kubelet.streams.talks import (
    ChannelTalk,
    PlainWire,
    SpdyTalk,
    TunnelWire,
)
from windtunnel.nodes.kubelet.streams.websocket import WebSocket, accept_key

_WEBSOCKET: Final = "websocket"
_SPDY: Final = "spdy/3.1"
_TUNNEL: Final = "SPDY/3.1+portforward.k8s.io"
_FORWARD: Final = "portforward.k8s.io"
_FORWARD_DIALECTS: Final = tuple(
    dialect
    for dialect in channels.DIALECTS
    if dialect.name in ("v4.channel.k8s.io", "v4.base64.channel.k8s.io")
)
_STREAM_HEADER: Final = "x-stream-protocol-version"
_STREAM_VERSIONS: Final = (
    "v4.channel.k8s.io",
    "v3.channel.k8s.io",
    "v2.channel.k8s.io",
    "channel.k8s.io",
)


class _Subject(NamedTuple):
    """What a path names."""

    namespace: str
    pod: str
    uid: str
    container: str


class Containers:
    """Answers what concerns single containers."""

    def __init__(
        self,
        runtime: Runtime,
        pods: Callable[[], list[Tree]],
        find: Callable[[str, str, str], ContainerRecord | None],
        clock: Clock,
    ) -> None:
        self._runtime, self._pods, self._find, self._clock = runtime, pods, find, clock

    async def run(self, exchange: Exchange, parts: Sequence[str], *, attached: bool) -> None:
        """Run a program in a container, or attach to the one that runs."""
        subject = _subject(parts)
        asked = exchange.asked
        self._pod(subject)
        record = self._running(subject)
        tty = asked.switch("tty")
        stdin, stdout = asked.switch("input"), asked.switch("output")
        stderr = asked.switch("error") and not tty
        if not (stdin or stdout or stderr):
            raise BadRequest("you must specify at least 1 of stdin, stdout, stderr")
        command = [value for name, value in asked.query if name == "command"]
        begin: Callable[[], Exec] = partial(self._runtime.attach, record.id)
        if not attached:
            begin = partial(self._runtime.exec, record.id, command, tty=tty, stdin=stdin)
        wanted = {
            ERROR: True, STDIN: stdin, STDOUT: stdout, STDERR: stderr, RESIZE: tty,
        }  # fmt: skip
        talk = await _talk(exchange, [channel for channel, there in wanted.items() if there])
        if talk is not None:
            await converse(talk, begin, stdout=stdout, stderr=stderr, attached=attached)

    async def run_to_end(self, exchange: Exchange, parts: Sequence[str]) -> None:
        """Run a program to its end and answer what it has written."""
        subject = _subject(parts)
        self._pod(subject)
        record = self._running(subject)
        command = exchange.asked.parameter("cmd").split(" ")
        try:
            ended = await beside(partial(self._runtime.exec_sync, record.id, command, 0.0))
        except (ExecFailed, ExecTimedOut) as error:
            raise InternalError(str(error)) from error
        if ended.code:
            raise InternalError(ended.complaint(command))
        await exchange.answer(200, ended.output)

    async def logs(self, exchange: Exchange, parts: Sequence[str]) -> None:
        """Send a container's log."""
        if len(parts) != 3:
            raise NotFound("404 page not found\n")
        namespace, name, container = parts
        pod = self._pod_of(namespace, name)
        if pod is None:
            raise NotFound(f'pod "{name}" does not exist\n')
        if not log_choice.has_container(pod, container):
            raise NotFound(f'container "{container}" not found in pod "{name}"\n')
        options = self._log_options(exchange)
        chosen = log_choice.choose(pod, container, previous=exchange.asked.switch("previous"))
        if isinstance(chosen, log_choice.NoSuchLog):
            raise BadRequest(chosen.why)
        record = self._runtime.record(chosen.container_id)
        if record is None:
            raise BadRequest(
                f"unable to retrieve container logs for containerd://{chosen.container_id}"
            )
        if not record.log_path.exists():
            raise BadRequest(
                f'failed to try resolving symlinks in path "{record.log_path}": '
                f"lstat {record.log_path}: no such file or directory"
            )
        await exchange.begin(TEXT)
        try:
            await send_log(
                record.log_path,
                options,
                running=partial(self._runs, record.id),
                left=lambda: exchange.left,
                send=exchange.piece,
            )
        except (NoLog, FileNotFoundError) as error:
            await exchange.piece(f"{error}\n".encode())
        await exchange.piece(b"")

    async def forward(self, exchange: Exchange, parts: Sequence[str]) -> None:
        """Forward ports to a pod."""
        if len(parts) not in (2, 3):
            raise NotFound("404 page not found\n")
        asked = exchange.asked
        pod = self._pod_of(parts[0], parts[1])
        if pod is None:
            raise NotFound("pod does not exist")
        target = Target(dig(pod, "metadata", "uid") or "", _ports_at(pod))
        if asked.upgrade == _SPDY:
            await exchange.switch("SPDY/3.1", [("X-Stream-Protocol-Version", _FORWARD)])
            wire = PlainWire(exchange.reader, exchange.writer)
            await SpdyForwarding(wire, target).run()
            return
        offered = _offered(exchange)
        if _TUNNEL in offered:
            socket = await _open(exchange, _TUNNEL)
            await SpdyForwarding(TunnelWire(socket), target).run()
            return
        dialect = channels.choose(offered, _FORWARD_DIALECTS)
        if dialect is None:
            raise _unspoken(offered)
        ports = _ports(exchange)
        socket = await _open(exchange, dialect.name)
        await forward_channels(socket, dialect, target, ports)

    def _pod_of(self, namespace: str, name: str) -> Tree | None:
        for pod in self._pods():
            metadata = pod.get("metadata") or {}
            if metadata.get("name") == name and metadata.get("namespace") == namespace:
                return pod
        return None

    def _pod(self, subject: _Subject) -> Tree:
        pod = self._pod_of(subject.namespace, subject.pod)
        if pod is None or subject.uid not in ("", dig(pod, "metadata", "uid")):
            raise NotFound("pod does not exist")
        return pod

    def _running(self, subject: _Subject) -> ContainerRecord:
        record = self._find(subject.namespace, subject.pod, subject.container)
        if record is None or record.state is not ContainerState.RUNNING:
            raise InternalError(f'container not found ("{subject.container}")')
        return record

    def _runs(self, container_id: str) -> bool:
        record = self._runtime.record(container_id)
        return record is not None and record.state is ContainerState.RUNNING

    def _log_options(self, exchange: Exchange) -> LogOptions:
        asked = exchange.asked
        since: float | None = None
        if text := asked.parameter("sinceTime"):
            try:
                since = parse_time(text)
            except ValueError as error:
                raise BadRequest(f'{{"message": "Unable to decode query: {error}"}}') from None
        seconds = _count(asked.parameter("sinceSeconds"))
        if seconds is not None:
            since = self._clock.now() - seconds
        stream = asked.parameter("stream").lower()
        return LogOptions(
            follow=asked.switch("follow"),
            timestamps=asked.switch("timestamps"),
            tail_lines=_count(asked.parameter("tailLines")),
            since=since,
            limit_bytes=_count(asked.parameter("limitBytes")),
            stream=stream if stream in ("stdout", "stderr") else "",
        )


def _subject(parts: Sequence[str]) -> _Subject:
    match parts:
        case [namespace, pod, container]:
            return _Subject(namespace, pod, "", container)
        case [namespace, pod, uid, container]:
            return _Subject(namespace, pod, uid, container)
    raise NotFound("404 page not found\n")


def _count(text: str) -> int | None:
    if not text:
        return None
    if not text.isdigit():
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _ports_at(pod: Tree) -> str:
    """Return where a pod's ports are served: pods share the machine's network."""
    if dig(pod, "spec", "hostNetwork"):
        return "127.0.0.1"
    address = dig(pod, "status", "podIP") or ""
    if not address:
        raise InternalError("the pod has no address yet")
    return served_at(str(address))


def _offered(exchange: Exchange) -> list[str]:
    if exchange.asked.upgrade != _WEBSOCKET or "sec-websocket-key" not in exchange.asked.headers:
        raise BadRequest("Upgrade request required")
    text = exchange.asked.headers.get("sec-websocket-protocol", "")
    return [name.strip() for name in text.split(",") if name.strip()]


def _unspoken(offered: Sequence[str]) -> ApiError:
    return BadRequest(f"none of the sub-protocols [{' '.join(offered)}] is spoken here")


async def _open(exchange: Exchange, protocol: str) -> WebSocket:
    headers = [("Sec-WebSocket-Accept", accept_key(exchange.asked.headers["sec-websocket-key"]))]
    if protocol:
        headers.append(("Sec-WebSocket-Protocol", protocol))
    await exchange.switch(_WEBSOCKET, headers)
    return WebSocket(exchange.reader, exchange.writer)


async def _talk(exchange: Exchange, wanted: Sequence[int]) -> Talk | None:
    """Return how the client is spoken to; None where he does not begin to speak."""
    asked = exchange.asked
    if asked.upgrade == _SPDY:
        offered = [name.strip() for name in asked.headers.get(_STREAM_HEADER, "").split(",")]
        version = next((name for name in offered if name in _STREAM_VERSIONS), "")
        if not version:
            raise BadRequest(f"none of the stream protocols {offered} is spoken here")
        await exchange.switch("SPDY/3.1", [("X-Stream-Protocol-Version", version)])
        wire = PlainWire(exchange.reader, exchange.writer)
        talk = SpdyTalk(wire, statuses=version.startswith("v4"))
        return talk if await talk.opened(wanted) else None
    offered = _offered(exchange)
    dialect = channels.choose(offered)
    if dialect is None:
        raise _unspoken(offered)
    return ChannelTalk(await _open(exchange, dialect.name), dialect)


def _ports(exchange: Exchange) -> list[int]:
    found = []
    for name, value in exchange.asked.query:
        if name in ("port", "ports"):
            for text in value.split(","):
                if not text.isdigit() or not 0 < int(text) < 65536:
                    raise BadRequest(f'unable to parse "{text}" as a port')
                found.append(int(text))
    if not found:
        raise BadRequest('query parameter "port" is required')
    return found
