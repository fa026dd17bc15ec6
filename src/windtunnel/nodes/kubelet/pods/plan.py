"""What to do next with a pod that is to run: the one decision of its worker.

Source: kubelet v1.36 (computePodActions). Init containers run one after the other; a sidecar only
has to have started before the next one begins. When no app container runs or will run again, the
pod is over and everything in it is stopped. Containers that were added to look into the pod run
once, whatever becomes of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.pod_spec import apps, containers, ephemerals, inits, is_sidecar
from windtunnel.nodes.kubelet.restart import Aftermath, after_exit, may_restart
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, ContainerState


@dataclass(frozen=True, slots=True)
class Kill:
    """A container to stop, and what an event says about it."""

    record: ContainerRecord
    message: str
    by_probe: str = ""
    """Which probe asked for it; it may grant another grace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a pod besides its spec and its records."""

    records: PodRecords
    """Of the present sandbox."""
    sandbox: bool
    """Whether there is one."""
    unhealthy: dict[str, str] = field(default_factory=dict)
    """Containers whose probe has failed for good: name → "liveness" or "startup"."""
    changed: Collection[str] = ()
    """Running containers whose definition is another one now."""
    started: Collection[str] = ()
    """Running containers that count as started: startup probe passed, postStart done."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in this order."""

    over: bool = False
    """Stop everything: the pod has ended."""
    sandbox: bool = False
    """Make a sandbox first."""
    kill: tuple[Kill, ...] = ()
    start: tuple[str, ...] = ()
    """Containers to start, in order."""
    anew: bool = False
    """Stop every container and run the pod from its first init container on."""


def plan(pod: Tree, facts: Facts) -> Plan:
    """Decide what to do next with a pod that is neither deleted nor ended."""
    if not facts.sandbox:
        first = [inits(pod)[0]["name"]] if inits(pod) else [each["name"] for each in apps(pod)]
        return Plan(sandbox=True, start=tuple(first))
    if _all_anew(pod, facts):
        return Plan(anew=True)
    added = [
        each["name"] for each in ephemerals(pod) if facts.records.current(each["name"]) is None
    ]
    kills: list[Kill] = []
    begun = any(facts.records.current(each["name"]) for each in apps(pod))
    before, ready = _init_steps(pod, facts, begun, kills)
    if before is None:
        return Plan(over=True)
    if not ready:
        return Plan(kill=tuple(kills), start=(*added, *before))
    starts, kept = _app_steps(pod, facts, kills)
    if not kept and not starts:
        return Plan(over=True)
    return Plan(kill=tuple(kills), start=(*added, *before, *starts))


def _all_anew(pod: Tree, facts: Facts) -> bool:
    for container in containers(pod):
        record = facts.records.current(container["name"])
        if record is None or record.state is not ContainerState.EXITED:
            continue
        if after_exit(pod, container, record.exit_code) is Aftermath.RESTART_ALL:
            return True
    return False


def _init_steps(
    pod: Tree, facts: Facts, begun: bool, kills: list[Kill]
) -> tuple[list[str] | None, bool]:
    """Return init containers to start now, and whether app containers may run.

    None instead of containers: an init container has failed for good.
    """
    starts: list[str] = []
    for container in inits(pod):
        name = container["name"]
        record = facts.records.current(name)
        if is_sidecar(container):
            if record is None or record.state is ContainerState.EXITED:
                if record is None or may_restart(pod, container, record.exit_code):
                    starts.append(name)
                if not begun:
                    return starts, False
            elif _stops(container, record, facts, kills):
                starts.append(name)
            elif name not in facts.started and not begun:
                return starts, False
            continue
        if begun:
            continue
        if record is None:
            return [*starts, name], False
        if record.state is not ContainerState.EXITED:
            if _stops(container, record, facts, kills):
                starts.append(name)
            return starts, False
        if record.exit_code == 0:
            continue
        if not may_restart(pod, container, record.exit_code):
            return None, False
        return [*starts, name], False
    return starts, True


def _app_steps(pod: Tree, facts: Facts, kills: list[Kill]) -> tuple[list[str], int]:
    """Return app containers to start now, and how many go on running."""
    starts: list[str] = []
    kept = 0
    for container in apps(pod):
        name = container["name"]
        record = facts.records.current(name)
        if record is None:
            starts.append(name)
        elif record.state is ContainerState.EXITED:
            if may_restart(pod, container, record.exit_code):
                starts.append(name)
        elif _stops(container, record, facts, kills):
            # Killed, it exits with a failure or at least by force: only Never keeps it down.
            if name in facts.changed or _comes_back(pod, container):
                starts.append(name)
        else:
            kept += 1
    return starts, kept


def _comes_back(pod: Tree, container: Tree) -> bool:
    policy: str = container.get("restartPolicy") or pod["spec"].get("restartPolicy") or "Always"
    return policy != "Never"


def _stops(container: Tree, record: ContainerRecord, facts: Facts, kills: list[Kill]) -> bool:
    """Note why a running container has to be stopped, if it has to."""
    name = container["name"]
    if name in facts.changed:
        message = f"Container {name} definition changed"
    elif name in facts.unhealthy:
        message = f"Container {name} failed {facts.unhealthy[name]} probe"
    else:
        return False
    kills.append(Kill(record, message, facts.unhealthy.get(name, "")))
    return True
