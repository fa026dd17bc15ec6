"""Lifecycle hooks: what a container wants to be done right after its start and before its end.

Source: kubelet v1.36. A hook that fails leaves its words in the container's status, never in an
event, so that nothing secret gets there.
"""

from __future__ import annotations

import json

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.outside import Course, Pause
from windtunnel.nodes.kubelet.pod_spec import full_name, uid_of
from windtunnel.nodes.kubelet.probes.asking import ProbeReply, ask_http
from windtunnel.nodes.kubelet.probes.targets import http_target
from windtunnel.nodes.kubelet.runtime.protocol import Ended, ExecFailed, ExecTimedOut

_HTTP_SECONDS = 30.0
_NOWHERE = ProbeReply(False, "failed to find networking container", answered=False)
"""A pod on the host's network has no address of its own, and none is put in its place."""


class HookFailed(Exception):
    """A hook has failed; the text is what the container's status says."""


def run_hook(
    ground: Ground,
    pod: Tree,
    container: Tree,
    container_id: str,
    hook: Tree,
    limit_seconds: float,
) -> Course[None]:
    """Run one hook to its end.

    Args:
        ground: The node.
        pod: The pod.
        container: The container's spec.
        container_id: The container, which runs.
        hook: What to do.
        limit_seconds: How long it may take; 0 for no limit.

    Raises:
        HookFailed: it has failed.
    """
    place = f'Container "{container["name"]}" in Pod "{full_name(pod)}"'
    if hook.get("exec") is not None:
        command = [str(word) for word in hook["exec"].get("command") or ()]
        yield from _run_exec(ground, container_id, command, place, limit_seconds)
    elif hook.get("httpGet") is not None:
        target = http_target(hook["httpGet"], container, ground.own_address(uid_of(pod)))
        answer = _NOWHERE
        if target.host:
            answer = yield lambda: ask_http(target, _HTTP_SECONDS, agent="kube-lifecycle")
        if not answer.answered:
            path = hook["httpGet"].get("path") or ""
            raise HookFailed(
                f"HTTP lifecycle hook ({path}) for {place} failed - error: {answer.text}"
            )
    elif hook.get("sleep") is not None:
        seconds = float(hook["sleep"].get("seconds") or 0)
        yield Pause(min(seconds, limit_seconds) if limit_seconds else seconds)


def _run_exec(
    ground: Ground, container_id: str, command: list[str], place: str, limit_seconds: float
) -> Course[None]:
    spoken = f"[{' '.join(command)}]"
    output = b""
    try:
        ended: Ended = yield lambda: ground.runtime.exec_sync(container_id, command, limit_seconds)
    except ExecTimedOut as slow:
        output, error = slow.output, str(slow)
    except ExecFailed as failed:
        error = str(failed)
    else:
        if ended.code == 0:
            return
        output, error = ended.output, ended.complaint(command)
    message = json.dumps(output.decode(errors="replace"), ensure_ascii=False)
    raise HookFailed(
        f"Exec lifecycle hook ({spoken}) for {place} failed - error: {error}, message: {message}"
    )
