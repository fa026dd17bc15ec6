"""Doing what was decided for a pod, from top to bottom.

A container that cannot be started does not keep the others from it, but for an init container,
after which nothing else has its turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.durations import spoken
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.outside import Course
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.pod_spec import (
    container_of,
    fingerprint,
    full_name,
    is_init,
    is_sidecar,
    pod_key,
    uid_of,
)
from windtunnel.nodes.kubelet.pods.failures import MountRefused, StartRefused
from windtunnel.nodes.kubelet.pods.images import ImageProvider
from windtunnel.nodes.kubelet.pods.plan import Kill, Plan
from windtunnel.nodes.kubelet.pods.starting import start_container
from windtunnel.nodes.kubelet.pods.stopping import stop_all, stop_container
from windtunnel.nodes.kubelet.runtime.protocol import UNSEEN, ContainerRecord, ContainerState
from windtunnel.nodes.kubelet.status.containers import Trouble
from windtunnel.nodes.kubelet.volumes.failures import MountFailed

_MOUNT_SECONDS: Final = 0.5
_MOUNT_LONGEST_SECONDS: Final = 122.0
_UPDATE_SECONDS: Final = 30.0
"""Source: the volume manager's own back-off, kubelet v1.36."""


@dataclass(slots=True)
class Memory:
    """What a pod's worker remembers from one visit to the next."""

    images: ImageProvider
    address: str = ""
    mounted: bool = False
    mount_tries: int = 0
    updated_at: float = 0.0
    news: bool = False
    """Something has changed that the runtime does not tell: look again at once."""
    troubles: dict[str, Trouble] = field(default_factory=dict)


class Doer:
    """Acts for one pod."""

    def __init__(self, ground: Ground, memory: Memory) -> None:
        self._ground, self._memory = ground, memory

    def act(
        self, pod: Tree, plan: Plan, records: PodRecords, attempts: dict[str, int]
    ) -> Course[list[StartRefused]]:
        """Do it; returns what was refused.

        Args:
            pod: The pod.
            plan: What was decided.
            records: What the runtime knows.
            attempts: How often each container has been started before.
        """
        ground, memory = self._ground, self._memory
        if plan.over or plan.anew:
            yield from stop_all(ground, pod, records.running())
            memory.news = True
            if plan.over:
                ground.sandboxes.stop(uid_of(pod))
            else:
                ground.sandboxes.begin_anew(uid_of(pod), ground.clock.now())
            return []
        if not memory.mounted:
            yield from self._mount(pod)
        elif ground.clock.now() >= memory.updated_at + _UPDATE_SECONDS:
            yield from self._update(pod)
        self._tell_missing_pull_secrets(pod)
        if plan.sandbox:
            self._make_sandbox(pod)
        for kill in plan.kill:
            yield from self._kill(pod, kill, kill.record.name in plan.start)
        refused: list[StartRefused] = []
        for name in plan.start:
            container = container_of(pod, name)
            if container is None:
                continue
            try:
                yield from self._start(pod, container, records, attempts.get(name, 0))
            except StartRefused as failed:
                memory.troubles[name] = Trouble(failed.reason, failed.message)
                refused.append(failed)
                if is_init(pod, name) and not is_sidecar(container):
                    break
            else:
                memory.troubles.pop(name, None)
            yield from self._remove_old(uid_of(pod), name)
        return refused

    def _remove_old(self, uid: str, name: str) -> Course[None]:
        """Remove all runs of a container but the last two: the log of one before is wanted."""
        runtime = self._ground.runtime

        def remove(old: ContainerRecord) -> None:
            runtime.remove(old.id)
            old.log_path.unlink(missing_ok=True)

        runs = [each for each in runtime.containers() if each.pod_uid == uid and each.name == name]
        runs.sort(key=lambda each: (each.attempt, each.created_at))
        for old in runs[:-2]:
            yield partial(remove, old)

    def _mount(self, pod: Tree) -> Course[None]:
        """Have the pod's volumes made.

        Raises:
            MountRefused: they cannot be made now.
        """
        try:
            yield lambda: self._ground.volumes.mount(pod)
        except Exception as failed:
            self._tell_unmounted(pod, failed)
            wait = min(_MOUNT_SECONDS * 2**self._memory.mount_tries, _MOUNT_LONGEST_SECONDS)
            self._memory.mount_tries += 1
            raise MountRefused(wait) from failed
        self._memory.mounted, self._memory.mount_tries = True, 0
        self._memory.updated_at = self._ground.clock.now()

    def _update(self, pod: Tree) -> Course[None]:
        """Bring volumes up to date; what cannot be had stays as it was."""
        self._memory.updated_at = self._ground.clock.now()
        try:
            yield lambda: self._ground.volumes.update(pod)
        except Exception as failed:
            self._tell_unmounted(pod, failed)

    def _tell_unmounted(self, pod: Tree, failed: Exception) -> None:
        messages = failed.messages if isinstance(failed, MountFailed) else (str(failed),)
        for message in messages:
            self._ground.events.warning(pod, "FailedMount", message)

    def _tell_missing_pull_secrets(self, pod: Tree) -> None:
        """Say which of a pod's pull secrets are not there; images are pulled all the same."""
        names = [
            each["name"] for each in pod["spec"].get("imagePullSecrets") or () if "name" in each
        ]
        if not names:
            return
        find, namespace = self._ground.lookup(pod, "").secret, pod_key(pod).namespace
        missing = ", ".join(name for name in names if name and find(namespace, name) is None)
        if missing:
            self._ground.events.warning(
                pod,
                "FailedToRetrieveImagePullSecret",
                f"Unable to retrieve some image pull secrets ({missing}); "
                "attempting to pull the image may not succeed.",
            )

    def _make_sandbox(self, pod: Tree) -> None:
        sandbox = self._ground.sandboxes.make(
            uid_of(pod),
            self._ground.clock.now(),
            host_network=bool(pod["spec"].get("hostNetwork")),
        )
        self._memory.address, self._memory.news = sandbox.address, True

    def _kill(self, pod: Tree, kill: Kill, comes_back: bool) -> Course[None]:
        message = kill.message + (", will be restarted" if comes_back else "")
        grace = None
        if kill.by_probe:
            container = container_of(pod, kill.record.name)
            own = dig(container, f"{kill.by_probe}Probe", "terminationGracePeriodSeconds")
            grace = None if own is None else float(own)
        yield from stop_container(self._ground, pod, kill.record, message, grace=grace)

    def _start(self, pod: Tree, container: Tree, records: PodRecords, attempt: int) -> Course[None]:
        """Start a container unless it has to wait because it keeps failing."""
        ground, name = self._ground, container["name"]
        now = ground.clock.now()
        record = records.current(name)
        # What ended with its node has not failed.
        if record and record.state is ContainerState.EXITED and record.reason != UNSEEN:
            key = (uid_of(pod), name, fingerprint(container))
            wait = ground.crashes.wait(key, record.finished_at, now)
            if wait:
                message = f"Back-off restarting failed container {name} in pod {full_name(pod)}"
                ground.events.warning(pod, "BackOff", message, name)
                raise StartRefused(
                    "CrashLoopBackOff",
                    f"back-off {spoken(ground.crashes.delay(key))} restarting failed "
                    f"container={name} pod={full_name(pod)}",
                    again_in=wait,
                )
            ground.crashes.note(key, record.finished_at, now)
        yield from start_container(
            ground, self._memory.images, pod, container, attempt, self._memory.address
        )
