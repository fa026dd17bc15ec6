"""Asking over the network, as probes and hooks do. These calls block.

Source: kubelet v1.36 (its probe packages); the words are Go's.
"""

from __future__ import annotations

import errno
import http.client
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from windtunnel.nodes.kubelet.durations import spoken
from windtunnel.nodes.kubelet.network import served_at
from windtunnel.nodes.kubelet.probes.targets import HttpTarget

_LARGEST: Final = 10 * 1024
_GRPC_OPTIONS: Final = (
    ("grpc.primary_user_agent", "kube-probe/1.36"),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # what failed before is no reason to wait
)
_HEALTH: Final = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")
_SERVING: Final = 1
_MOST_REQUESTS: Final = 10
_REDIRECTIONS: Final = (301, 302, 303, 307, 308)
_PORTS: Final = {"http": 80, "https": 443}
_WORDS: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ECONNRESET: "connection reset by peer",
}


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """What was answered, or went wrong."""

    healthy: bool
    text: str
    doubtful: bool = False
    """Healthy, but not what was asked for: the text says why."""
    answered: bool = True
    """Whether there was an answer at all, a bad one perhaps."""


def ask_http(target: HttpTarget, timeout_seconds: float, agent: str = "kube-probe") -> ProbeReply:
    """Fetch something; every answer from 200 to 399 is healthy.

    A redirection is followed as long as it stays on the same host.
    """
    present = target
    for _ in range(_MOST_REQUESTS):
        answer = _fetch(present, timeout_seconds, agent)
        if isinstance(answer, str):
            return ProbeReply(False, f'Get "{present.url}": {answer}', answered=False)
        following = _redirected(present, answer)
        if following is None or following.host != target.host:
            return _judged(answer)
        present = following
    return ProbeReply(False, f'Get "{present.url}": stopped after 10 redirects', answered=False)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    location: str
    body: bytes


def _judged(answer: _Answer) -> ProbeReply:
    if not 200 <= answer.status < 400:
        return ProbeReply(False, f"HTTP probe failed with statuscode: {answer.status}")
    text = answer.body.decode(errors="replace")
    if answer.status < 300:
        return ProbeReply(True, text)
    return ProbeReply(True, f"Probe terminated redirects, Response body: {text}", doubtful=True)


def _redirected(target: HttpTarget, answer: _Answer) -> HttpTarget | None:
    """Return where an answer sends who has asked; None for nowhere."""
    if answer.status not in _REDIRECTIONS or not answer.location:
        return None
    place = urlsplit(urljoin(target.url, answer.location))
    if place.scheme not in _PORTS:
        return None
    return HttpTarget(
        place.scheme,
        place.hostname or "",
        place.port or _PORTS[place.scheme],
        f"{place.path or '/'}{f'?{place.query}' if place.query else ''}",
        target.headers,
    )


def _fetch(target: HttpTarget, timeout_seconds: float, agent: str) -> _Answer | str:
    """Fetch one thing; words, where there is no answer."""
    host = served_at(target.host)
    names = dict(target.headers)
    headers = {"User-Agent": f"{agent}/1.36", "Accept": "*/*", "Connection": "close"}
    headers |= {"Host": f"{target.host}:{target.port}"} | names
    wire: http.client.HTTPConnection
    if target.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        wire = http.client.HTTPSConnection(
            host, target.port, timeout=timeout_seconds, context=context
        )
    else:
        wire = http.client.HTTPConnection(host, target.port, timeout=timeout_seconds)
    start = target.path if target.path.startswith("/") else f"/{target.path}"
    try:
        wire.request("GET", start, headers=headers)
        answer = wire.getresponse()
        return _Answer(answer.status, answer.getheader("Location", ""), answer.read(_LARGEST))
    except TimeoutError:
        return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    except OSError as error:
        return f"dial tcp {target.host}:{target.port}: connect: {_words(error)}"
    except http.client.HTTPException:
        return "EOF"
    finally:
        wire.close()


def ask_tcp(host: str, port: int, timeout_seconds: float) -> ProbeReply:
    """Connect to a port."""
    try:
        socket.create_connection((served_at(host), port), timeout=timeout_seconds).close()
    except TimeoutError:
        return ProbeReply(False, f"dial tcp {host}:{port}: i/o timeout")
    except OSError as error:
        return ProbeReply(False, f"dial tcp {host}:{port}: connect: {_words(error)}")
    return ProbeReply(True, "")


def ask_grpc(host: str, port: int, service: str, timeout_seconds: float) -> ProbeReply:
    """Ask the health service of gRPC; connecting and answering share one time limit."""
    # Here, because it costs 20 MiB and few probes are of this sort.
    import grpc

    limit = spoken(timeout_seconds)
    end = time.monotonic() + timeout_seconds
    with grpc.insecure_channel(f"{served_at(host)}:{port}", _GRPC_OPTIONS) as channel:
        try:
            # One who refuses is asked again until the time is over: it may be about to listen.
            grpc.channel_ready_future(channel).result(timeout_seconds)
        except grpc.FutureTimeoutError:
            words = f'timeout: failed to connect service "{host}:{port}" within {limit}'
            return ProbeReply(False, f"{words}: context deadline exceeded")
        check = channel.unary_unary("/grpc.health.v1.Health/Check", None, None)
        try:
            said: bytes = check(_health_request(service), timeout=end - time.monotonic())
        except grpc.RpcError as error:
            return ProbeReply(False, _grpc_words(error.code().name, error.details(), limit))
    # HealthCheckResponse has one field, the first: a number, left out where it is 0.
    state = int.from_bytes(said[1:2]) if said.startswith(b"\x08") else 0
    if state == _SERVING:
        return ProbeReply(True, "service healthy")
    name = _HEALTH[state] if state < len(_HEALTH) else str(state)
    return ProbeReply(False, f'service unhealthy (responded with "{name}")')


def _health_request(service: str) -> bytes:
    """Return a HealthCheckRequest: one field, the first, a text after its length."""
    name = service.encode()
    size, length = len(name), bytearray()
    while size > 0x7F:  # seven bits a byte, the lowest first; the eighth says that more follow
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return b"\n" + bytes(length) + name if name else b""


def _grpc_words(code: str, details: str | None, limit: str) -> str:
    if code == "DEADLINE_EXCEEDED":
        return f"timeout: health rpc did not complete within {limit}"
    if code == "UNIMPLEMENTED":
        return (
            "error: this server does not implement the grpc health protocol "
            f"(grpc.health.v1.Health): {details}"
        )
    spelt = "Canceled" if code == "CANCELLED" else code.title().replace("_", "")
    return f"error: health rpc probe failed: rpc error: code = {spelt} desc = {details}"


def _words(error: OSError) -> str:
    return _WORDS.get(error.errno or 0, str(error.strerror or error).lower())
