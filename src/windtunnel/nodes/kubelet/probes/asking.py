"""Asking over the network, as probes and hooks do. These calls block.

Source: kubelet v1.36 (its probe packages); the words are Go's.
"""

from __future__ import annotations

import errno
import http.client
import socket
import ssl
from dataclasses import dataclass
from typing import Final

from windtunnel.nodes.kubelet.probes.targets import HttpTarget, served_at

_LARGEST: Final = 10 * 1024
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


def ask_http(target: HttpTarget, timeout_seconds: float) -> ProbeReply:
    """Fetch something; every answer from 200 to 399 is healthy."""
    host = served_at(target.host)
    names = dict(target.headers)
    headers = {"User-Agent": "kube-probe/1.36", "Accept": "*/*", "Connection": "close"}
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
        body = answer.read(_LARGEST)
    except TimeoutError:
        text = (
            f'Get "{target.url}": context deadline exceeded '
            "(Client.Timeout exceeded while awaiting headers)"
        )
        return ProbeReply(False, text)
    except OSError as error:
        place = f"dial tcp {target.host}:{target.port}: connect: {_words(error)}"
        return ProbeReply(False, f'Get "{target.url}": {place}')
    except http.client.HTTPException:
        return ProbeReply(False, f'Get "{target.url}": EOF')
    finally:
        wire.close()
    if 200 <= answer.status < 400:
        return ProbeReply(True, body.decode(errors="replace"))
    return ProbeReply(False, f"HTTP probe failed with statuscode: {answer.status}")


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
    """Ask the health service of gRPC."""
    # Here, because it costs 20 MiB and few probes are of this sort.
    import grpc

    place = f"{served_at(host)}:{port}"
    asked = b"\n" + bytes([len(service.encode())]) + service.encode() if service else b""
    with grpc.insecure_channel(place) as channel:
        call = channel.unary_unary("/grpc.health.v1.Health/Check", None, None)
        try:
            said: bytes = call(asked, timeout=timeout_seconds)
        except grpc.RpcError as error:
            code = error.code()
            if code is grpc.StatusCode.DEADLINE_EXCEEDED:
                return ProbeReply(
                    False, f'timeout: failed to connect service "{host}:{port}" within 1s'
                )
            if code is grpc.StatusCode.UNIMPLEMENTED:
                return ProbeReply(
                    False, "error: this server does not implement the grpc health protocol"
                )
            return ProbeReply(False, f"error: health rpc probe failed: {error}")
    # HealthCheckResponse{status=1}: 1 is SERVING.
    if said == b"\x08\x01":
        return ProbeReply(True, "service healthy")
    names = {b"": "UNKNOWN", b"\x08\x02": "NOT_SERVING", b"\x08\x03": "SERVICE_UNKNOWN"}
    state = names.get(said, "UNKNOWN")
    return ProbeReply(False, f"service unhealthy (responded with {state!r})".replace("'", '"'))


def _words(error: OSError) -> str:
    return _WORDS.get(error.errno or 0, str(error.strerror or error).lower())
