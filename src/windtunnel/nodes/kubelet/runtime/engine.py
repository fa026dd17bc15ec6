"""The runtime of our node: containers as private roots, images as names.

State is in memory and in processes that die with this one; the folder is emptied at the start.
Records of what has run may be kept, and are taken up again at the next start.
Every change of a container happens on the keeper's thread; what is asked comes from any other.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from windtunnel.kernel import Clock, WallClock
from windtunnel.nodes.kubelet.runtime import memory
from windtunnel.nodes.kubelet.runtime.bundle import (
    Bundle,
    OwnFiles,
    check_sources,
    lay_out,
    make_bundle,
    remove_bundle,
)
from windtunnel.nodes.kubelet.runtime.container import Container, Launch
from windtunnel.nodes.kubelet.runtime.doorway import Doorway
from windtunnel.nodes.kubelet.runtime.execution import AttachedExec, ProcessExec
from windtunnel.nodes.kubelet.runtime.images import ImageStore, as_used
from windtunnel.nodes.kubelet.runtime.isolation import Tools, trial
from windtunnel.nodes.kubelet.runtime.keeper import Keeper
from windtunnel.nodes.kubelet.runtime.programs import tools as toolbox
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerOrder,
    ContainerRecord,
    ContainerState,
    CreateFailed,
    Ended,
    ExecFailed,
    ImageRecord,
    Isolation,
    StartFailed,
)
from windtunnel.nodes.kubelet.runtime.record_files import RecordFiles
from windtunnel.nodes.kubelet.runtime.registries import Registries
from windtunnel.nodes.kubelet.runtime.root import plan_root

_SETTLE_SECONDS: Final = 60.0
_DEATH_SECONDS: Final = 10.0
"""How long a killed process may take to be gone; only one that the kernel holds takes longer."""
_TOOL_PATH: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


class ContainerEngine:
    """A ``Runtime`` over this machine's processes.

    Args:
        folder: Where roots are made; this runtime's alone, emptied at the start.
        clock: Tells the time of what happens.
        registries: What registries hold, by host; the others hold every image.
        images: Images that are present from the beginning, with their sizes in bytes.
        files: Further files of our own images, by their path there.
        records: Where records are kept; None: nowhere.
        isolate: False for plain processes, whatever the machine allows.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        registries: Registries | None = None,
        images: Mapping[str, int] | None = None,
        files: Mapping[str, Path] | None = None,
        records: Path | None = None,
        isolate: bool = True,
    ) -> None:
        self._folder = folder.absolute()
        self._clock = clock or WallClock()
        self._images = ImageStore(registries, images)
        self._files = dict(files or {})
        self._tools = Tools.find()
        self._lock = threading.Lock()
        self._kept = RecordFiles(records) if records is not None else None
        past = self._kept.read(self._clock.now()) if self._kept is not None else ()
        self._past = {each.id: each for each in past}
        """Containers of earlier starts, all of them ended."""
        self._containers: dict[str, tuple[Container, Bundle]] = {}
        self._listeners: list[Callable[[ContainerRecord], None]] = []
        remove_bundle(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._groups = memory.Groups(_mark(self._folder))
        why = self._try() if isolate else "plain processes were asked for"
        self.isolation = Isolation.NONE if why else Isolation.NAMESPACES
        self.isolation_message = (
            f"containers run as plain processes: {why}"
            if why
            else "containers have namespaces and roots of their own"
        )
        self._keeper = Keeper(self._look_at_memory, memory.LOOK_SECONDS)

    def image(self, reference: str) -> ImageRecord | None:
        """Return the image where it is present; raises PullFailed where the name is no name."""
        found = self._images.find(reference)
        return found.record if found else None

    def pull(self, reference: str) -> ImageRecord:
        """Make the image present; raises PullFailed."""
        return self._images.pull(reference).record

    def images(self) -> list[ImageRecord]:
        """Return the images that are present, largest first."""
        return self._images.records()

    def create(self, order: ContainerOrder) -> str:
        """Make a container and return its id; raises CreateFailed."""
        container_id = secrets.token_hex(32)
        found = self._images.find(order.image)
        if found is None:
            raise CreateFailed(f'failed to get image "{order.image}": not found')
        image = as_used(found, order)
        check_sources(order, container_id)
        limit = order.memory_limit_bytes
        isolated = self.isolation is Isolation.NAMESPACES
        group = self._groups.make(container_id, limit) if limit else None
        folder = self._folder / container_id
        try:
            bundle = make_bundle(
                folder,
                order,
                image,
                self._tools,
                group=group,
                files=self._files,
                isolated=isolated,
            )
        except OSError as error:
            remove_bundle(folder)
            raise CreateFailed(
                f'failed to create containerd container: failed to write "{error.filename}": '
                f"{(error.strerror or str(error)).lower()}"
            ) from None
        launch = Launch(
            command=(
                self._tools.launch(bundle.identity, folder)
                if isolated
                else self._tools.launch_plainly(folder)
            ),
            environment=_TOOL_PATH,
            isolated=isolated,
        )
        record = _record(container_id, order, image.record, bundle, self._clock.now())
        container = Container(
            order, record, folder, launch, group, self._keeper, self._clock, self._tell
        )
        with self._lock:
            self._containers[container_id] = (container, bundle)
        self._tell(record)
        return container_id

    def start(self, container_id: str) -> None:
        """Run the container's program; raises StartFailed."""
        container, _ = self._find(container_id, StartFailed)
        if container.record.state is not ContainerState.CREATED:
            raise StartFailed(f"container is in {_cri(container.record.state)} state")
        self._keeper.do(container.start)
        if not container.settled.wait(_SETTLE_SECONDS):
            self._keeper.do(lambda: container.signal(signal.SIGKILL))
            container.exited.wait(_DEATH_SECONDS)
            raise StartFailed("failed to create containerd task: context deadline exceeded")
        if container.record.reason == "StartError":
            raise StartFailed(container.record.message)
        if container.order.memory_limit_bytes and container.group is None:
            self._keeper.do(self._keeper.look_again)

    def signal(self, container_id: str, number: int) -> None:
        """Send a signal to the container's first process, if it still runs."""
        with self._lock:
            found = self._containers.get(container_id)
        if found is not None:
            self._keeper.do(lambda: found[0].signal(number))

    def stop(self, container_id: str, grace_seconds: float) -> None:
        """Ask the container to end, kill it after the grace; returns when it has exited."""
        with self._lock:
            found = self._containers.get(container_id)
        if found is None or found[0].record.state is ContainerState.CREATED:
            return
        container, bundle = found
        # A first process loses what comes before its trap is set, and ours is to end all the same.
        patient = bundle.patient or container.record.missing
        tries = max(1, round(grace_seconds)) if patient else 1
        for _ in range(tries if grace_seconds > 0 else 0):
            self._keeper.do(lambda: container.signal(signal.SIGTERM))
            if container.exited.wait(min(grace_seconds / tries, threading.TIMEOUT_MAX)):
                return
        self._keeper.do(lambda: container.signal(signal.SIGKILL))
        container.exited.wait(_DEATH_SECONDS)

    def remove(self, container_id: str) -> None:
        """Forget a container, killing it where it runs; its log file stays."""
        self._discard(container_id)
        if self._kept is not None:
            self._kept.forget(container_id)

    def containers(self) -> list[ContainerRecord]:
        """Return all containers that were not removed, in the order of their creation."""
        with self._lock:
            present = [container.record for container, _ in self._containers.values()]
            return [*self._past.values(), *present]

    def record(self, container_id: str) -> ContainerRecord | None:
        """Return one container, None where it was removed."""
        with self._lock:
            found = self._containers.get(container_id)
            return found[0].record if found else self._past.get(container_id)

    def order(self, container_id: str) -> ContainerOrder | None:
        """Return what a container was made of, None where it was removed."""
        with self._lock:
            found = self._containers.get(container_id)
        return found[0].order if found else None

    def listen(self, deliver: Callable[[ContainerRecord], None]) -> Callable[[], None]:
        """Tell each change of state, from any thread, until the returned call is made."""
        with self._lock:
            self._listeners = [*self._listeners, deliver]

        def leave() -> None:
            with self._lock:
                self._listeners = [each for each in self._listeners if each is not deliver]

        return leave

    def exec(
        self, container_id: str, argv: Sequence[str], *, tty: bool = False, stdin: bool = False
    ) -> ProcessExec:
        """Run a program in a running container; raises ExecFailed."""
        return self._doorway(container_id, "exec in").exec(argv, tty=tty, stdin=stdin)

    def exec_sync(self, container_id: str, argv: Sequence[str], timeout_seconds: float) -> Ended:
        """Run a program to its end. 0 seconds: no limit.

        Raises:
            ExecFailed: it cannot be run.
            ExecTimedOut: it took too long.
        """
        return self._doorway(container_id, "exec in").exec_sync(argv, timeout_seconds)

    def attach(self, container_id: str) -> AttachedExec:
        """Open the ends of a running container's first process; raises ExecFailed."""
        return self._doorway(container_id, "attach to").attach()

    def close(self) -> None:
        """Kill every container; only logs are left, and records where they are kept."""
        self._kept = None  # what still runs ends with the node, not by itself
        with self._lock:
            ids = list(self._containers)
            running = [container for container, _ in self._containers.values()]
        for container in running:
            self._keeper.do(lambda one=container: one.signal(signal.SIGKILL))  # type: ignore[misc]
        for container_id in ids:
            self._discard(container_id)
        self._groups.close()
        self._keeper.close()
        remove_bundle(self._folder)

    def _try(self) -> str:
        folder = self._folder / "trial"
        plan = plan_root(OwnFiles(), extras=toolbox(), mounts=(), devices=())
        try:
            lay_out(folder / "root", plan)
            return trial(self._tools, folder, plan.mounts)
        finally:
            remove_bundle(folder)

    def _discard(self, container_id: str) -> None:
        self.stop(container_id, 0)
        with self._lock:
            self._past.pop(container_id, None)
            found = self._containers.pop(container_id, None)
        if found is not None:
            if found[0].group is not None:
                found[0].group.remove()
            remove_bundle(found[0].folder)

    def _tell(self, record: ContainerRecord) -> None:
        kept = self._kept
        if kept is not None:
            with contextlib.suppress(OSError):  # it is missed after a restart, nowhere else
                kept.keep(record)
        for deliver in self._listeners:
            deliver(record)

    def _find(
        self, container_id: str, failure: type[StartFailed | ExecFailed]
    ) -> tuple[Container, Bundle]:
        with self._lock:
            found = self._containers.get(container_id)
            past = container_id in self._past
        if past:
            state = _cri(ContainerState.EXITED)
            raise failure(f"failed to use container: container is in {state} state")
        if found is None:
            raise failure(
                f'an error occurred when try to find container "{container_id}": not found'
            )
        return found

    def _doorway(self, container_id: str, purpose: str) -> Doorway:
        container, bundle = self._find(container_id, ExecFailed)
        state = container.record.state
        if state is not ContainerState.RUNNING:
            raise ExecFailed(f"failed to {purpose} container: container is in {_cri(state)} state")
        isolated = self.isolation is Isolation.NAMESPACES
        return Doorway(container, bundle, self._tools, self._keeper, isolated=isolated)

    def _look_at_memory(self) -> bool:
        """Kill containers that hold more than they may, where no control group does it."""
        with self._lock:
            limited = [
                container
                for container, _ in self._containers.values()
                if container.group is None
                and container.order.memory_limit_bytes
                and container.record.state is ContainerState.RUNNING
            ]
        children = memory.parents() if limited else {}
        page = os.sysconf("SC_PAGE_SIZE")
        for container in limited:
            own = memory.family(container.record.pid, children)
            if memory.resident_bytes(own, page) > container.order.memory_limit_bytes:
                container.too_big = True
                container.signal(signal.SIGKILL)
        return bool(limited)


def _record(
    container_id: str, order: ContainerOrder, image: ImageRecord, bundle: Bundle, now: float
) -> ContainerRecord:
    """Return what is known of a container that has just been made."""
    return ContainerRecord(
        id=container_id,
        pod_uid=order.pod_uid,
        pod_namespace=order.pod_namespace,
        pod_name=order.pod_name,
        name=order.name,
        attempt=order.attempt,
        image=image.image,
        image_id=image.id,
        state=ContainerState.CREATED,
        exit_code=0,
        reason="",
        message="",
        created_at=now,
        started_at=0.0,
        finished_at=0.0,
        pid=0,
        log_path=order.log_path,
        init=order.init,
        stand_in=image.stand_in,
        asleep=bundle.asleep,
    )


def clear_away(folder: Path) -> None:
    """Remove what a runtime that was killed has left: its folder and its control groups."""
    groups = memory.Groups(_mark(folder.absolute()))
    groups.sweep()
    if folder.exists():
        remove_bundle(folder)


def _mark(folder: Path) -> str:
    return f"windtunnel-{hashlib.sha256(str(folder).encode()).hexdigest()[:8]}"


def _cri(state: ContainerState) -> str:
    return f"CONTAINER_{state.name}"
