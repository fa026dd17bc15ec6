"""A node in virtual time: the real API server and the real kubelet, over containers of ours.

A container's command is its script: ``exit N`` ends at once, ``sleep S [N]`` after so many seconds,
``hold`` runs until it is stopped, ``broken`` cannot be started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.world import World

from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.devices.admission import Admitted, Rejected, RunOptions
from windtunnel.nodes.kubelet.devices.devices import Devices
from windtunnel.nodes.kubelet.devices.inventory import Figures
from windtunnel.nodes.kubelet.kubelet import Kubelet
from windtunnel.nodes.kubelet.node.machine import Machine
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerOrder,
    ContainerRecord,
    ContainerState,
    CreateFailed,
    Ended,
    Exec,
    ExecFailed,
    ImageRecord,
    Isolation,
    Mount,
    PullFailed,
    StartFailed,
)
from windtunnel.nodes.kubelet.sandboxes import Sandboxes
from windtunnel.nodes.kubelet.settings import Settings
from windtunnel.nodes.kubelet.volumes.failures import MountFailed, VolumeMissing
from windtunnel.nodes.kubelet.volumes.places import HostPlaces
from windtunnel.nodes.kubelet.volumes.volumes import PodVolumes

NODE = "n"
MACHINE = Machine(
    cpus=2,
    memory_kib=24684092,
    storage_bytes=264212084 * 1024,
    architecture="amd64",
    boot_id="boot",
    machine_id="machine",
    system_uuid="system",
    kernel_version="6",
    os_image="Linux",
    swap_bytes=0,
    old_cgroups=False,
)
HOLD = ["hold"]


class Containers:
    """A runtime whose containers live by their scripts."""

    isolation = Isolation.NAMESPACES
    isolation_message = "nothing runs"

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.orders: dict[str, ContainerOrder] = {}
        self.records: dict[str, ContainerRecord] = {}
        self.present = {"there:1"}
        self.known = {"pulled:1"}
        self.answers: dict[tuple[str, ...], tuple[int, bytes] | tuple[int, bytes, bytes]] = {}
        self.asked: list[tuple[str, ...]] = []
        self.stopped: list[tuple[str, float]] = []
        self._heard: list[Callable[[ContainerRecord], None]] = []

    def image(self, reference: str) -> ImageRecord | None:
        if " " in reference:
            raise PullFailed("no name", "InvalidImageName")
        return self._image(reference) if reference in self.present else None

    def pull(self, reference: str) -> ImageRecord:
        if reference not in self.known | self.present:
            raise PullFailed(f"{reference}: not found")
        self.present.add(reference)
        return self._image(reference)

    def images(self) -> list[ImageRecord]:
        return [self._image(each) for each in sorted(self.present)]

    def create(self, order: ContainerOrder) -> str:
        if order.command == ("unmakeable",):
            raise CreateFailed("cannot be made")
        made = f"{len(self.orders):064x}"
        self.orders[made] = order
        self.records[made] = ContainerRecord(
            id=made,
            pod_uid=order.pod_uid,
            pod_namespace=order.pod_namespace,
            pod_name=order.pod_name,
            name=order.name,
            attempt=order.attempt,
            image=order.image,
            image_id="sha256:1",
            state=ContainerState.CREATED,
            exit_code=0,
            reason="",
            message="",
            created_at=self.loop.clock.now(),
            started_at=0.0,
            finished_at=0.0,
            pid=0,
            log_path=order.log_path,
            init=order.init,
        )
        return made

    def start(self, container_id: str) -> None:
        now = self.loop.clock.now()
        script = self.orders[container_id].command or ("hold",)
        if script == ("broken",):
            self._end(container_id, 128, "StartError", "no such program")
            raise StartFailed("no such program")
        self._change(container_id, state=ContainerState.RUNNING, started_at=now)
        if script[0] == "exit":
            self._end(container_id, int(script[1]))
        elif script[0] == "sleep":
            code = int(script[2]) if len(script) > 2 else 0
            self.loop.call_after(float(script[1]), lambda: self._end(container_id, code))

    def signal(self, container_id: str, number: int) -> None:
        self._end(container_id, 128 + number)

    def stop(self, container_id: str, grace_seconds: float) -> None:
        record = self.records[container_id]
        self.stopped.append((record.name, grace_seconds))
        if record.state is not ContainerState.EXITED:
            self._end(container_id, 0)

    def remove(self, container_id: str) -> None:
        self.records.pop(container_id, None)

    def containers(self) -> list[ContainerRecord]:
        return list(self.records.values())

    def record(self, container_id: str) -> ContainerRecord | None:
        return self.records.get(container_id)

    def order(self, container_id: str) -> ContainerOrder | None:
        return self.orders.get(container_id)

    def listen(self, deliver: Callable[[ContainerRecord], None]) -> Callable[[], None]:
        self._heard.append(deliver)
        return lambda: self._heard.remove(deliver)

    def exec(self, container_id: str, argv: Sequence[str], **_: bool) -> Exec:
        raise ExecFailed("not here")

    def exec_sync(self, container_id: str, argv: Sequence[str], timeout_seconds: float) -> Ended:
        self.asked.append(tuple(argv))
        if tuple(argv) not in self.answers:
            raise ExecFailed("no such program")
        return Ended(*self.answers[tuple(argv)])

    def attach(self, container_id: str) -> Exec:
        raise ExecFailed("not here")

    def close(self) -> None:
        self.records.clear()

    def _image(self, reference: str) -> ImageRecord:
        return ImageRecord(image=reference, id="sha256:1", names=(reference,), size_bytes=12)

    def _end(self, container_id: str, code: int, reason: str = "", message: str = "") -> None:
        record = self.records.get(container_id)
        if record is None or record.state is ContainerState.EXITED:
            return
        self._change(
            container_id,
            state=ContainerState.EXITED,
            exit_code=code,
            reason=reason or ("Error" if code else "Completed"),
            message=message,
            finished_at=self.loop.clock.now(),
        )

    def _change(self, container_id: str, **parts: Any) -> None:
        record = self.records[container_id] = replace(self.records[container_id], **parts)
        for deliver in self._heard:
            deliver(record)


class Gifts(Devices):
    """Devices that are there for whoever asks, but for pods that are refused by name."""

    def __init__(self, loop: Loop, folder: Path) -> None:
        super().__init__(loop, Outside(loop, threads=0), folder, folder, lambda: None)
        self.refused: dict[str, Rejected] = {}
        self.troubles: dict[str, str] = {}
        self.held: dict[str, list[Tree]] = {}
        self.mounts: tuple[Mount, ...] = ()
        self.known = Figures({}, {})
        self._heard: list[Callable[[frozenset[str]], None]] = []

    @property
    def fresh(self) -> bool:
        return False

    def admit(
        self,
        pod: Tree,
        then: Callable[[Admitted | Rejected], None],
        *,
        running: frozenset[str] = frozenset(),
    ) -> None:
        then(self.refused.get(pod["metadata"]["name"], Admitted()))

    def prepare(self, pod: Tree, container: str, then: Callable[[str | None], None]) -> None:
        then(self.troubles.get(container))

    def run_options(self, pod_uid: str, container: str) -> RunOptions:
        return RunOptions(envs=(("GIFT", "1"),), mounts=self.mounts)

    def health(self, pod_uid: str, container: str) -> list[Tree]:
        return self.held.get(container, [])

    def figures(self) -> Figures:
        return self.known

    def listen(self, deliver: Callable[[frozenset[str]], None]) -> None:
        self._heard.append(deliver)

    def change(self, *uids: str) -> None:
        for deliver in self._heard:
            deliver(frozenset(uids))


class NoSources:
    """An API that has nothing to make volumes of."""

    def config_map(self, key: Key) -> Tree | None:
        return None

    def secret(self, key: Key) -> Tree | None:
        return None

    def claim(self, key: Key) -> Tree | None:
        return None

    def token(self, account: Key, spec: Tree) -> Tree:
        raise VolumeMissing("no tokens here")


class Places(PodVolumes):
    """Volumes that are there, unless told otherwise."""

    def __init__(self, loop: Loop, root: Path) -> None:
        super().__init__(root, NoSources(), HostPlaces(root), loop.clock, memory=root / "memory")
        self.failure = ""

    def mount(self, pod: Tree) -> None:
        if self.failure:
            raise MountFailed([self.failure])


class Bench:
    """One node of a cluster in virtual time, and what can be asked of it."""

    def __init__(self, world: World, root: Path, **settings: Any) -> None:
        self.world, self.loop = world, world.loop
        self.settings = Settings(
            name=NODE, root=root, distribution="plain", **{"relist_seconds": 0.0, **settings}
        )
        self.runtime = Containers(world.loop)
        self.devices = Gifts(world.loop, root)
        self.volumes = Places(world.loop, root)
        self.sandboxes = Sandboxes(self.settings.pod_cidr)
        self.drawn = 0.0
        self.names: list[str] = []
        self.kubelet = self.make()
        self.statuses: dict[str, list[Tree]] = {}
        world.client.watch("pods", self._seen)
        self.kubelet.start()
        self.run(0.1)

    def make(self) -> Kubelet:
        return Kubelet(
            self.world.virtual.client("kubelet"),
            self.loop,
            self.settings,
            runtime=self.runtime,
            devices=self.devices,
            volumes=self.volumes,
            sandboxes=self.sandboxes,
            machine=MACHINE,
            outside=Outside(self.loop, threads=0),
            host_lines=lambda _: self.names,
            draw=lambda: self.drawn,
        )

    def restart(self) -> None:
        """Stop the kubelet and start another over the same containers."""
        self.kubelet.stop()
        self.kubelet = self.make()
        self.kubelet.start()
        self.run(0.1)

    def run(self, seconds: float) -> None:
        self.world.run(seconds)

    def pod(self, name: str, *containers: Tree, **spec: Any) -> str:
        """Create a pod on the node, of one holding container where none are given."""
        made = [self.container(**each) for each in containers or ({"command": HOLD},)]
        spec["initContainers"] = [self.container(**each) for each in spec.pop("initContainers", ())]
        grace = {"terminationGracePeriodSeconds": 30, "nodeName": NODE, "containers": made}
        metadata = spec.pop("metadata", {})
        pod = self.world.create("pods", name, metadata=metadata, spec={**grace, **spec})
        self.run(0.1)
        return str(pod["metadata"]["uid"])

    def container(self, name: str = "main", **parts: Any) -> Tree:
        return {"name": name, "image": "there:1", "imagePullPolicy": "IfNotPresent", **parts}

    def get(self, name: str) -> Tree:
        return self.world.get("pods", name)

    def status(self, name: str) -> Tree:
        found: Tree = self.get(name)["status"]
        return found

    def state(self, pod: str, container: str = "main") -> Tree:
        for key in ("containerStatuses", "initContainerStatuses"):
            for each in dig(self.status(pod), key) or ():
                if each["name"] == container:
                    found: Tree = each
                    return found
        raise AssertionError(f"no container {container}")

    def condition(self, pod: str, name: str) -> tuple[str, str]:
        for each in self.status(pod)["conditions"]:
            if each["type"] == name:
                return each["status"], each.get("reason", "")
        raise AssertionError(f"no condition {name}")

    def story(self, pod: str) -> list[str]:
        """What the API showed of a pod, one word a change: its phase and its first container."""
        told = []
        for status in self.statuses.get(pod, []):
            state = dig(status, "containerStatuses", 0, "state") or {"none": {}}
            ((word, rest),) = state.items()
            reason = (rest or {}).get("reason", "")
            told.append(f"{status.get('phase')} {reason or word}")
        return [each for at, each in enumerate(told) if not at or told[at - 1] != each]

    def delete(self, name: str, grace: int | None = None) -> None:
        self.world.client.delete("pods", Key("default", name), grace_seconds=grace)

    def reasons(self, pod: str) -> list[str]:
        """Reasons of the kubelet's events about a pod, in order."""
        return [reason for reason, _ in self.events(pod)]

    def events(self, pod: str) -> list[tuple[str, str]]:
        events = self.world.client.list("events")
        events.sort(key=lambda event: str(event["metadata"]["name"]).rpartition(".")[2])
        return [
            (event["reason"], event["message"])
            for event in events
            if event["involvedObject"]["name"] == pod and event["source"]["component"] == "kubelet"
        ]

    def _seen(self, change: Any) -> None:
        if change.type in ("ADDED", "MODIFIED"):
            self.statuses.setdefault(change.key.name, []).append(change.tree().get("status") or {})
