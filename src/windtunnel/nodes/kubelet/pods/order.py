"""Making the order for a container out of its spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from windtunnel.machinery.quantity import to_int
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.expansion import expand
from windtunnel.nodes.kubelet.pod_spec import (
    fingerprint,
    grace_seconds,
    host_name,
    is_init,
    pod_key,
    termination_path,
    uid_of,
)
from windtunnel.nodes.kubelet.runtime.protocol import ContainerOrder, DeviceNode, Mount


@dataclass(frozen=True, slots=True, kw_only=True)
class Furnishing:
    """What is put into a container besides what its spec says of itself."""

    environment: Mapping[str, str]
    mounts: Sequence[Mount]
    devices: Sequence[DeviceNode] = ()
    annotations: Sequence[tuple[str, str]] = ()
    log_path: Path
    address: str


def order_of(pod: Tree, container: Tree, attempt: int, furnishing: Furnishing) -> ContainerOrder:
    """Return the order for one run of a container."""
    key = pod_key(pod)
    known = furnishing.environment
    security = container.get("securityContext") or {}
    whole = pod["spec"].get("securityContext") or {}
    user = security.get("runAsUser", whole.get("runAsUser"))
    group = security.get("runAsGroup", whole.get("runAsGroup"))
    groups = [*(whole.get("supplementalGroups") or ())]
    if whole.get("fsGroup") is not None:
        groups.append(whole["fsGroup"])
    limit = dig(container, "resources", "limits", "memory")
    return ContainerOrder(
        pod_uid=uid_of(pod),
        pod_namespace=key.namespace,
        pod_name=key.name,
        name=container["name"],
        attempt=attempt,
        image=str(container.get("image") or ""),
        command=_words(container.get("command"), known),
        args=_words(container.get("args"), known),
        environment=tuple(known.items()),
        working_dir=str(container.get("workingDir") or ""),
        mounts=tuple(furnishing.mounts),
        devices=tuple(furnishing.devices),
        user=None if user is None else int(user),
        group=None if group is None else int(group),
        groups=tuple(int(each) for each in groups),
        privileged=bool(security.get("privileged")),
        read_only_root=bool(security.get("readOnlyRootFilesystem")),
        tty=bool(container.get("tty")),
        stdin=bool(container.get("stdin")),
        stdin_once=bool(container.get("stdinOnce")),
        log_path=furnishing.log_path,
        hostname=host_name(pod),
        address=furnishing.address,
        memory_limit_bytes=max(to_int(limit), 0) if limit is not None else 0,
        annotations=(*_annotations(pod, container, attempt), *furnishing.annotations),
        labels=(
            ("io.kubernetes.container.name", container["name"]),
            ("io.kubernetes.pod.name", key.name),
            ("io.kubernetes.pod.namespace", key.namespace),
            ("io.kubernetes.pod.uid", uid_of(pod)),
        ),
        init=is_init(pod, container["name"]),
    )


def _words(written: Sequence[str] | None, known: Mapping[str, str]) -> tuple[str, ...] | None:
    return tuple(expand(str(word), known) for word in written) if written else None


def _annotations(pod: Tree, container: Tree, attempt: int) -> list[tuple[str, str]]:
    policy = str(container.get("terminationMessagePolicy") or "File")
    return [
        ("io.kubernetes.container.hash", fingerprint(container)),
        ("io.kubernetes.container.restartCount", str(attempt)),
        ("io.kubernetes.container.terminationMessagePath", termination_path(container)),
        ("io.kubernetes.container.terminationMessagePolicy", policy),
        ("io.kubernetes.pod.terminationGracePeriod", str(grace_seconds(pod))),
    ]
