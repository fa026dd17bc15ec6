"""Writing pod statuses with the least number of patches.

What was written is the base of the next difference, for the watch may be behind its writer. A patch
that could not be sent is tried again; then the newest status is written, not the one that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windtunnel.client import Client
from windtunnel.errors import ClusterError
from windtunnel.kernel import DONE, Line, Loop, Settled
from windtunnel.machinery.errors import ApiError, Conflict, NotFound
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_spec import pod_key, uid_of
from windtunnel.nodes.kubelet.status.pod_status import status_patch


class StatusWriter:
    """Writes statuses of pods.

    Args:
        client: Where to.
        loop: Whose steps try again what could not be written.
        written: Told the pod as it is after a write.
    """

    def __init__(self, client: Client, loop: Loop, written: Callable[[Tree], None]) -> None:
        self._client, self._written = client, written
        self._wanted: dict[str, tuple[Tree, Tree]] = {}
        self._line: Line[str] = Line(loop, "pod status", self._again, max_seconds=10.0)

    def write(self, pod: Tree, status: Tree) -> None:
        """Bring the API's status of a pod in line; ``pod`` is the newest that is known of it."""
        uid = uid_of(pod)
        try:
            self._patch(pod, status)
        except (ApiError, ClusterError):
            self._wanted[uid] = (pod, status)
            self._line.add(uid)
        else:
            self._wanted.pop(uid, None)

    def forget(self, uid: str) -> None:
        """Write nothing more of a pod."""
        self._wanted.pop(uid, None)
        self._line.drop(uid)

    def stop(self) -> None:
        """Write nothing more."""
        for uid in list(self._wanted):
            self.forget(uid)

    def _again(self, uids: Sequence[str]) -> list[Settled]:
        for uid in uids:
            wanted = self._wanted.get(uid)
            if wanted is not None:
                self._patch(*wanted)
                self._wanted.pop(uid, None)
        return [DONE] * len(uids)

    def _patch(self, pod: Tree, status: Tree) -> None:
        patch = status_patch(pod.get("status") or {}, status)
        if not patch:
            return
        body = {"metadata": {"uid": uid_of(pod)}, "status": patch}
        try:
            self._written(
                self._client.patch("pods", pod_key(pod), body, subresource="status", strategic=True)
            )
        except (NotFound, Conflict):
            return  # it is gone, or another pod has its name
