"""Events about pods and their containers, as a kubelet tells them."""

from __future__ import annotations

from windtunnel.client.events import Recorder, Subject
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_spec import field_path, pod_key, uid_of


class PodEvents:
    """Tells of pods; which container is meant stands only in the field path."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def normal(self, pod: Tree, reason: str, message: str, container: str = "") -> None:
        """Tell that something happened as it should."""
        self._recorder.normal(_subject(pod, container), reason, message)

    def warning(self, pod: Tree, reason: str, message: str, container: str = "") -> None:
        """Tell that something is wrong."""
        self._recorder.warning(_subject(pod, container), reason, message)


def _subject(pod: Tree, container: str) -> Subject:
    key = pod_key(pod)
    return Subject(
        "Pod",
        key.name,
        key.namespace,
        uid_of(pod),
        resource_version=str(pod["metadata"].get("resourceVersion") or ""),
        field_path=field_path(pod, container) if container else "",
    )
