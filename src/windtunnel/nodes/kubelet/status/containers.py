"""The status of each container: its state, its last end, how often it was started again.

Source: kubelet v1.36. What the runtime knows comes first; a container that it does not know waits,
and keeps what the API says of its past. A container that failed to start and will be tried again
waits with that reason, whatever its last run came to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.pod_spec import (
    apps,
    containers,
    deleting,
    ephemerals,
    inits,
    is_init,
    is_sidecar,
)
from windtunnel.nodes.kubelet.restart import may_restart
from windtunnel.nodes.kubelet.runtime.protocol import UNSEEN, ContainerRecord, ContainerState

LOST_RUNNING: Final = (
    "The container could not be located when the pod was deleted.  The container used to be Running"
)
LOST: Final = "The container could not be located when the pod was terminated"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a container could not be started the last time: a reason, and its message."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What container statuses are told from, besides the pod."""

    records: PodRecords
    active: PodRecords
    """Those of the present sandbox."""
    troubles: Mapping[str, Trouble] = field(default_factory=dict)
    ready: Callable[[ContainerRecord], bool]
    """What a running container's readiness probe says."""
    started: Callable[[ContainerRecord], bool]
    """What a running container's startup probe says."""
    health: Callable[[str], list[Tree]]
    """The devices of a container, as ``allocatedResourcesStatus`` has them."""
    last_words: Callable[[ContainerRecord], str]
    """What a container that has exited left as its message."""


def container_statuses(pod: Tree, sources: Evidence) -> dict[str, Tree]:
    """Return the status of every container by name."""
    begun = any(sources.active.current(each["name"]) for each in apps(pod))
    old = {
        each["name"]: each
        for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
        for each in dig(pod, "status", key) or ()
    }
    made = {}
    added = {each["name"] for each in ephemerals(pod)}
    for container in containers(pod):
        name = container["name"]
        made[name] = _status(pod, container, old.get(name), sources)
        _show_trouble(pod, container, made[name], sources, begun)
        if name in added:
            made[name].pop("started", None)  # nobody ever asks
        else:
            _judge(pod, container, made[name], sources)
    return made


def as_listed(pod: Tree, statuses: Mapping[str, Tree]) -> Tree:
    """Return the lists of a pod's status: app containers by name, others in order."""
    listed: Tree = {}
    if inits(pod):
        listed["initContainerStatuses"] = [statuses[each["name"]] for each in inits(pod)]
    listed["containerStatuses"] = [
        statuses[name] for name in sorted(each["name"] for each in apps(pod))
    ]
    if ephemerals(pod):
        listed["ephemeralContainerStatuses"] = [statuses[each["name"]] for each in ephemerals(pod)]
    return listed


def end_what_waits(pod: Tree, statuses: Mapping[str, Tree]) -> None:
    """Write into statuses of a pod that has ended that what is not known to have ended, has.

    Containers that never had their turn go on waiting: app containers of a pod that was not
    initialized, and init containers after the last one that was begun.
    """
    lost: list[str] = []
    if _is_initialized(pod, statuses):
        lost += [each["name"] for each in apps(pod)]
    names = [each["name"] for each in inits(pod)]
    while names and not _was_begun(statuses[names[-1]]):
        names.pop()
    for name in [*names, *lost]:
        status = statuses[name]
        if "terminated" in status["state"]:
            continue
        status["state"] = {
            "terminated": {
                "exitCode": 137,
                "reason": "ContainerStatusUnknown",
                "message": LOST,
                "startedAt": None,
                "finishedAt": None,
            }
        }
        status["ready"] = status["started"] = False


def _is_initialized(pod: Tree, statuses: Mapping[str, Tree]) -> bool:
    if any(_was_begun(statuses[each["name"]]) for each in apps(pod)):
        return True
    return all(
        statuses[each["name"]].get("started" if is_sidecar(each) else "ready")
        for each in inits(pod)
    )


def _was_begun(status: Tree) -> bool:
    return "waiting" not in status["state"] or bool(status["lastState"].get("terminated"))


def _status(pod: Tree, container: Tree, old: Tree | None, sources: Evidence) -> Tree:
    name = container["name"]
    record = sources.records.current(name)
    status: Tree = {
        "name": name,
        "state": {"waiting": {"reason": _waiting_reason(pod)}},
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "image": container.get("image", ""),
        "imageID": "",
        "started": False,
    }
    if record is not None and _was_lost(pod, name, record, sources):
        status["restartCount"] = record.attempt
        status["lastState"] = _state(record, sources.last_words)
    elif record is not None:
        _tell_record(status, record, sources.records.previous(name), sources.last_words)
        _tell_resources(status, container.get("resources") or {})
    elif old is not None:
        status = _from_history(pod, status, old)
    health = sources.health(name)
    if health and not is_init(pod, name):
        status["allocatedResourcesStatus"] = health
    mounts = [_mount(mount) for mount in container.get("volumeMounts") or ()]
    if mounts:
        status["volumeMounts"] = mounts
    return status


def _was_lost(pod: Tree, name: str, record: ContainerRecord, sources: Evidence) -> bool:
    """Say whether a run ended with the node, so that the pod goes on with another one."""
    return record.reason == UNSEEN and not deleting(pod) and sources.active.current(name) is None


def _waiting_reason(pod: Tree) -> str:
    return "PodInitializing" if inits(pod) else "ContainerCreating"


def _tell_record(
    status: Tree,
    record: ContainerRecord,
    previous: ContainerRecord | None,
    last_words: Callable[[ContainerRecord], str],
) -> None:
    status["restartCount"] = record.attempt
    status["image"], status["imageID"] = record.image, record.image_id
    status["containerID"] = f"containerd://{record.id}"
    status["state"] = _state(record, last_words)
    if previous is not None and previous.state is ContainerState.EXITED:
        status["lastState"] = _state(previous, last_words)


def _tell_resources(status: Tree, resources: Tree) -> None:
    if resources.get("requests"):
        status["allocatedResources"] = dict(resources["requests"])
    status["resources"] = {
        key: dict(resources[key]) for key in ("limits", "requests") if resources.get(key)
    }


def _state(record: ContainerRecord, last_words: Callable[[ContainerRecord], str]) -> Tree:
    if record.state is ContainerState.RUNNING:
        return {"running": {"startedAt": time_text(record.started_at)}}
    ended: Tree = {"exitCode": record.exit_code, "reason": record.reason or "Error"}
    message = last_words(record)
    if message:
        ended["message"] = message
    ended |= {
        "startedAt": time_text(record.started_at),
        "finishedAt": time_text(record.finished_at),
        "containerID": f"containerd://{record.id}",
    }
    return {"terminated": ended}


def _from_history(pod: Tree, status: Tree, old: Tree) -> Tree:
    """Tell of a container that the runtime does not know what the API knows of it."""
    if dig(old, "state", "terminated") is not None:
        return dict(old)
    status["restartCount"] = old.get("restartCount", 0)
    status["lastState"] = old.get("lastState") or {}
    if dig(old, "state", "running") is not None and not status["lastState"].get("terminated"):
        status["lastState"] = {
            "terminated": {
                "exitCode": 137,
                "reason": "ContainerStatusUnknown",
                "message": LOST_RUNNING,
                "startedAt": None,
                "finishedAt": None,
            }
        }
        if not deleting(pod):
            status["restartCount"] += 1
    return status


def _show_trouble(pod: Tree, container: Tree, status: Tree, sources: Evidence, begun: bool) -> None:
    """Let a container wait, with its reason, where its last start has failed."""
    trouble = sources.troubles.get(container["name"])
    record = sources.active.current(container["name"])
    if trouble is None or deleting(pod):
        return
    if record is not None:
        if record.state is ContainerState.RUNNING:
            return
        if not may_restart(pod, container, record.exit_code):
            return
    if is_init(pod, container["name"]) and not is_sidecar(container) and begun:
        return
    if "terminated" in status["state"]:
        status["lastState"] = status["state"]
    status["state"] = {"waiting": {"reason": trouble.reason, "message": trouble.message}}


def _judge(pod: Tree, container: Tree, status: Tree, sources: Evidence) -> None:
    """Say whether the container is ready, and whether it has started."""
    record = sources.active.current(container["name"])
    if "running" in status["state"] and record is not None:
        status["started"] = sources.started(record)
        status["ready"] = sources.ready(record)
        if is_init(pod, container["name"]) and not is_sidecar(container):
            status["ready"] = False
    elif is_init(pod, container["name"]) and not is_sidecar(container):
        status["ready"] = dig(status, "state", "terminated", "exitCode") == 0


def _mount(mount: Tree) -> Tree:
    told: Tree = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        told |= {"readOnly": True, "recursiveReadOnly": "Disabled"}
    return told
