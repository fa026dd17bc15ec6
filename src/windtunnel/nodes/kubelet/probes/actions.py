"""What a probe does to find out: the one of its actions that is set. It blocks.

Source: kubelet v1.36. Lifecycle hooks fetch alike (``asking``), but run programs with other words.
"""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.probes.asking import ProbeReply, ask_grpc, ask_http, ask_tcp
from windtunnel.nodes.kubelet.probes.targets import http_target, port_number
from windtunnel.nodes.kubelet.runtime.protocol import ExecTimedOut, Runtime

_LARGEST: Final = 10 * 1024
_LONGEST_SECONDS: Final = 1e6
"""Sockets cannot wait longer than a month; nobody waits that long for a probe."""


def ask(
    probe: Tree, container: Tree, container_id: str, address: str, runtime: Runtime
) -> ProbeReply:
    """Ask a container once.

    Args:
        probe: The probe.
        container: The container's spec.
        container_id: The container, which runs.
        address: Where its pod is reached.
        runtime: What runs it.

    Raises:
        ExecFailed: the program cannot be run.
        ValueError: the probe asks nothing, or for a port that the container does not name.
    """
    limit = min(float(probe.get("timeoutSeconds") or 1), _LONGEST_SECONDS)
    if (action := probe.get("exec")) is not None:
        command = [str(word) for word in action.get("command") or ()]
        return _run(runtime, container_id, command, limit)
    if (action := probe.get("httpGet")) is not None:
        return ask_http(http_target(action, container, address), limit)
    if (action := probe.get("tcpSocket")) is not None:
        return ask_tcp(str(action.get("host") or address), port_number(action, container), limit)
    if (action := probe.get("grpc")) is not None:
        return ask_grpc(address, int(action["port"]), str(action.get("service") or ""), limit)
    raise ValueError(f"missing probe handler for {container['name']}")


def _run(runtime: Runtime, container_id: str, command: list[str], limit: float) -> ProbeReply:
    try:
        ended = runtime.exec_sync(container_id, command, limit)
    except ExecTimedOut:
        spoken = " ".join(command)
        return ProbeReply(False, f'command timed out: "{spoken}" timed out after {limit:g}s')
    return ProbeReply(ended.code == 0, ended.output[:_LARGEST].decode(errors="replace"))
