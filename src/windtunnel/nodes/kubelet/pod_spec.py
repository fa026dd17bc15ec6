"""Reading a pod's tree: its containers, its names, what it says of its end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Key, Tree, dig, encode
from windtunnel.nodes.kubelet.runtime.logs import nano_time_text
from windtunnel.nodes.kubelet.runtime.reference import parse_reference

TERMINAL: Final = ("Succeeded", "Failed")
_TERMINATION_PATH: Final = "/dev/termination-log"
_HOST_NAME_LENGTH: Final = 63
_SEEN: Final = "kubernetes.io/config.seen"
_SOURCE: Final = "kubernetes.io/config.source"
_OF_EACH_WRITE: Final = ("resourceVersion", "managedFields")


def uid_of(pod: Tree) -> str:
    """Return the pod's uid."""
    return str(dig(pod, "metadata", "uid") or "")


def pod_key(pod: Tree) -> Key:
    """Return the pod's key."""
    return Key(pod["metadata"].get("namespace") or "", pod["metadata"]["name"])


def with_origin(pod: Tree, known: Tree | None, now: float) -> Tree:
    """Return a pod as a kubelet keeps it: with where it comes from, and since when it is known.

    Args:
        pod: As the API has it.
        known: As it was kept before.
        now: Since when it is known, where it was not.
    """
    seen = dig(known, "metadata", "annotations", _SEEN) or nano_time_text(now)
    annotations = {**(pod["metadata"].get("annotations") or {}), _SEEN: seen, _SOURCE: "api"}
    return {**pod, "metadata": {**pod["metadata"], "annotations": annotations}}


def asked(pod: Tree) -> tuple[Tree, Tree]:
    """Return what is asked of a pod: all but what a write of its status changes."""
    metadata = pod["metadata"].items()
    return pod["spec"], {name: value for name, value in metadata if name not in _OF_EACH_WRITE}


def apps(pod: Tree) -> list[Tree]:
    """Return the app containers, as they are written."""
    found: list[Tree] = pod["spec"].get("containers") or []
    return found


def inits(pod: Tree) -> list[Tree]:
    """Return the init containers, sidecars among them, in the order in which they run."""
    found: list[Tree] = pod["spec"].get("initContainers") or []
    return found


def ephemerals(pod: Tree) -> list[Tree]:
    """Return the containers that were added to look into the pod, as they are written."""
    found: list[Tree] = pod["spec"].get("ephemeralContainers") or []
    return found


def containers(pod: Tree) -> Iterator[Tree]:
    """Yield init containers, app containers, then those that were added later."""
    yield from inits(pod)
    yield from apps(pod)
    yield from ephemerals(pod)


def container_of(pod: Tree, name: str) -> Tree | None:
    """Return the container of this name."""
    return next((each for each in containers(pod) if each["name"] == name), None)


def is_init(pod: Tree, name: str) -> bool:
    """Say whether a container of this name is an init container or a sidecar."""
    return any(each["name"] == name for each in inits(pod))


def is_sidecar(container: Tree) -> bool:
    """Say whether an init container goes on running beside the app containers."""
    return container.get("restartPolicy") == "Always"


def field_path(pod: Tree, name: str) -> str:
    """Return where a container stands in its pod, as events name it."""
    lists = {"initContainers": inits(pod), "ephemeralContainers": ephemerals(pod)}
    kind = (each for each, found in lists.items() if any(one["name"] == name for one in found))
    return f"spec.{next(kind, 'containers')}{{{name}}}"


def deleting(pod: Tree) -> bool:
    """Say whether somebody has deleted the pod."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def generation(pod: Tree) -> int:
    """Return which version of the spec this is."""
    return int(pod["metadata"].get("generation") or 0)


def grace_seconds(pod: Tree) -> int:
    """Return how long the pod's containers may take to end: as deleted, else as specified.

    A pod that is gone at once has its containers killed a moment later, never on the spot.
    """
    given = pod["metadata"].get("deletionGracePeriodSeconds") if deleting(pod) else None
    if given is None:
        given = pod["spec"].get("terminationGracePeriodSeconds", 30)
    return max(int(given or 0), 1)


def deadline(pod: Tree, started_at: float | None) -> float | None:
    """Return when the pod has been active for as long as it may be."""
    seconds = pod["spec"].get("activeDeadlineSeconds")
    if seconds is None or started_at is None:
        return None
    return started_at + int(seconds)


def start_time(pod: Tree) -> float | None:
    """Return when a kubelet first saw the pod, as its status says."""
    text = dig(pod, "status", "startTime")
    return parse_time(str(text)) if text else None


def full_name(pod: Tree) -> str:
    """Return ``name_namespace(uid)``, as messages name a pod."""
    key = pod_key(pod)
    return f"{key.name}_{key.namespace}({uid_of(pod)})"


def host_name(pod: Tree) -> str:
    """Return the name of the machine that a pod seems to be."""
    name = str(pod["spec"].get("hostname") or pod_key(pod).name)
    return name[:_HOST_NAME_LENGTH].rstrip("-.")


def termination_path(container: Tree) -> str:
    """Return where a container leaves its last words."""
    return str(container.get("terminationMessagePath") or _TERMINATION_PATH)


def same_image(one: str, other: str) -> bool:
    """Say whether two references mean the same image, however short they are written."""
    return one == other or _in_full(one) == _in_full(other)


def _in_full(text: str) -> str:
    try:
        return str(parse_reference(text))
    except ValueError:
        return text


def fingerprint(container: Tree) -> str:
    """Return what changes when a container has to be made anew: its name and its image."""
    text = encode({"name": container["name"], "image": container.get("image", "")})
    return hashlib.sha256(text).hexdigest()[:8]
