"""Having a container's image: present already, or pulled as its policy says.

Source: kubelet v1.36. A pull that failed is not tried again before its back-off has passed; what a
visit meanwhile says is the last failure.
"""

from __future__ import annotations

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.durations import spoken
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.outside import Course
from windtunnel.nodes.kubelet.pod_spec import uid_of
from windtunnel.nodes.kubelet.pods.failures import StartRefused
from windtunnel.nodes.kubelet.runtime.protocol import ImageRecord, PullFailed


class ImageProvider:
    """Provides images to the containers of one pod, and remembers what went wrong."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._last: dict[str, str] = {}
        """The last failure of an image: ``ErrImagePull: <message>``."""

    def provide(self, pod: Tree, container: Tree) -> Course[ImageRecord]:
        """Return the container's image.

        Raises:
            StartRefused: it cannot be had now.
        """
        ground, events = self._ground, self._ground.events
        reference, name = str(container.get("image") or ""), container["name"]
        policy = container.get("imagePullPolicy") or "IfNotPresent"
        try:
            present: ImageRecord | None = yield lambda: ground.runtime.image(reference)
        except PullFailed as malformed:
            message = str(malformed)
            events.warning(pod, "InspectFailed", message, name)
            raise self._refused(pod, name, "InvalidImageName", message) from None
        if present is not None and policy != "Always":
            events.normal(
                pod,
                "Pulled",
                f'Container image "{reference}" already present on machine '
                "and can be accessed by the pod",
                name,
            )
            return present
        if policy == "Never":
            message = f'Container image "{reference}" is not present with pull policy of Never'
            events.warning(pod, "ErrImageNeverPull", message, name)
            raise self._refused(pod, name, "ErrImageNeverPull", message)
        return (yield from self._pull(pod, name, reference))

    def _pull(self, pod: Tree, name: str, reference: str) -> Course[ImageRecord]:
        ground, events = self._ground, self._ground.events
        key = (uid_of(pod), reference)
        if ground.pulls.wait_since_noted(key, ground.clock.now()):
            message = f'Back-off pulling image "{reference}"'
            events.normal(pod, "BackOff", message, name)
            last = self._last.get(reference)
            told = f"{message}: {last}" if last else message
            raise self._refused(pod, name, "ImagePullBackOff", told)
        events.normal(pod, "Pulling", f'Pulling image "{reference}"', name)
        begun = ground.clock.now()
        try:
            pulled: ImageRecord = yield lambda: ground.runtime.pull(reference)
        except PullFailed as failed:
            now = ground.clock.now()
            ground.pulls.note(key, now, now)
            self._last[reference] = f"{failed.reason}: {failed}"
            events.warning(pod, "Failed", f'Failed to pull image "{reference}": {failed}', name)
            raise self._refused(pod, name, failed.reason, str(failed)) from None
        taken = spoken(ground.clock.now() - begun)
        events.normal(
            pod,
            "Pulled",
            f'Successfully pulled image "{reference}" in {taken} ({taken} including waiting). '
            f"Image size: {pulled.size_bytes} bytes.",
            name,
        )
        return pulled

    def _refused(self, pod: Tree, name: str, reason: str, message: str) -> StartRefused:
        self._ground.events.warning(pod, "Failed", f"Error: {reason}", name)
        return StartRefused(reason, message)
