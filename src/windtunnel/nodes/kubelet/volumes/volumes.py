"""Makes the volumes of pods, keeps what they hold up to date, and tells who sees them where.

A volume's files are folders below the kubelet's own, as on a real node. Calls may block and come
from any thread, for one pod one at a time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from windtunnel.kernel import Clock
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.expansion import expand
from windtunnel.nodes.kubelet.fields import field_value, resource_value
from windtunnel.nodes.kubelet.pod_spec import containers
from windtunnel.nodes.kubelet.runtime.entry import inside
from windtunnel.nodes.kubelet.runtime.protocol import Mount
from windtunnel.nodes.kubelet.volumes.failures import (
    ClaimMissing,
    MountFailed,
    VolumeMissing,
    not_begun,
    setup_failed,
    together,
)
from windtunnel.nodes.kubelet.volumes.payload import (
    Files,
    PlannedFile,
    config_map_files,
    downward_files,
    secret_files,
)
from windtunnel.nodes.kubelet.volumes.places import HostPlaces
from windtunnel.nodes.kubelet.volumes.sources import VolumeSources
from windtunnel.nodes.kubelet.volumes.tokens import VolumeTokens
from windtunnel.nodes.kubelet.volumes.writer import write_files

_WRITTEN: Final = ("configMap", "secret", "projected", "downwardAPI")
"""Kinds whose files we write; a container never may."""
SHARED_MEMORY: Final = Path("/dev/shm")


class PodVolumes:
    """The volumes of one node's pods.

    Args:
        root: The kubelet's folder.
        sources: Where the objects come from.
        places: Where the node's paths lie.
        clock: Tells the time.
        allocatable: What the node can give, for resources without a limit.
        memory: A folder in memory, for emptyDirs that ask for it.
    """

    def __init__(
        self,
        root: Path,
        sources: VolumeSources,
        places: HostPlaces,
        clock: Clock,
        *,
        allocatable: Callable[[], Mapping[str, str]] = dict,
        memory: Path = SHARED_MEMORY,
    ) -> None:
        self._root, self._sources, self._places, self._clock = root, sources, places, clock
        self._allocatable = allocatable
        self._tokens = VolumeTokens(sources, clock)
        self._memory = _memory_of(root, memory)

    def mount(self, pod: Tree) -> None:
        """Make all volumes of a pod, or bring them up to date.

        Raises:
            MountFailed: some cannot be made now; the others are.
        """
        failures = []
        claims: dict[str, ClaimMissing] = {}
        for volume in _used(pod):
            try:
                self._make(pod, volume)
            except ClaimMissing as why:
                claims[volume["name"]] = why
            except (VolumeMissing, ValueError) as why:
                failures.append(setup_failed(volume["name"], why))
            except OSError as error:
                words = (error.strerror or str(error)).lower()
                failed = VolumeMissing(f"{error.filename}: {words}")
                failures.append(setup_failed(volume["name"], failed))
        if claims:
            failures.append(not_begun(claims))
        if failures:
            raise MountFailed(failures)

    def update(self, pod: Tree) -> None:
        """Bring what is written into a pod's volumes up to date; raises MountFailed.

        What is there stays where its source cannot be had.
        """
        written = [
            volume
            for volume in _used(pod)
            if any(volume.get(kind) is not None for kind in _WRITTEN)
        ]
        if written:
            self.mount({**pod, "spec": {**pod["spec"], "volumes": written}})

    def mounts(self, pod: Tree, container: Tree) -> tuple[Mount, ...]:
        """Return what a container sees of its pod's volumes; the folders of subPaths are made.

        Raises:
            ValueError: a subPath leads out of its volume, or names an unknown variable.
        """
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
        seen = []
        for mount in container.get("volumeMounts") or ():
            volume = volumes[mount["name"]]
            place = self._place(pod, volume)
            sub_path = str(mount.get("subPath") or _expanded(pod, container, mount))
            if sub_path:
                place = _below(place, sub_path, mount["name"], container["name"])
            seen.append(
                Mount(
                    host_path=str(place),
                    container_path=str(mount["mountPath"]),
                    read_only=bool(mount.get("readOnly")) or self._never_written(volume),
                )
            )
        return tuple(seen)

    def of_node(self, mounts: Iterable[Mount]) -> tuple[Mount, ...]:
        """Return mounts of a node's own paths, as device plugins name them, at where they lie."""
        return tuple(
            replace(mount, host_path=str(self._places.find(mount.host_path))) for mount in mounts
        )

    def unmount(self, pod_uid: str) -> None:
        """Remove all volumes of a pod."""
        self._tokens.forget([pod_uid])
        shutil.rmtree(self._folder(pod_uid), ignore_errors=True)
        shutil.rmtree(self._memory / pod_uid, ignore_errors=True)

    def unmount_others(self, pod_uids: Collection[str]) -> None:
        """Remove the volumes of all pods but these: what is left of a node that was killed."""
        for folder in (self._root / "pods", self._memory):
            if folder.is_dir():
                for place in folder.iterdir():
                    if place.name not in pod_uids:
                        self.unmount(place.name)

    def _folder(self, pod_uid: str) -> Path:
        return self._root / "pods" / pod_uid / "volumes"

    def _place(self, pod: Tree, volume: Tree) -> Path:
        """Where a volume lies on the machine."""
        uid, name = str(pod["metadata"]["uid"]), str(volume["name"])
        match _kind(volume):
            case "hostPath":
                return self._places.find(volume["hostPath"]["path"])
            case "emptyDir" if _in_memory(volume) and self._memory.parent.is_dir():
                return self._memory / uid / name
            case "emptyDir":
                return self._folder(uid) / "kubernetes.io~empty-dir" / name
            case kind:
                return self._folder(uid) / f"kubernetes.io~{kind.lower()}" / name

    def _never_written(self, volume: Tree) -> bool:
        kind = _kind(volume)
        if kind == "hostPath":
            return self._places.read_only(volume["hostPath"]["path"])
        return kind in _WRITTEN

    def _make(self, pod: Tree, volume: Tree) -> None:
        place = self._place(pod, volume)
        group = dig(pod, "spec", "securityContext", "fsGroup")
        match _kind(volume):
            case "hostPath":
                source = volume["hostPath"]
                self._places.provide(source["path"], str(source.get("type") or ""))
            case "emptyDir":
                place.mkdir(parents=True, exist_ok=True)
                sticky = 0o1000 if _in_memory(volume) else 0
                place.chmod(0o777 | sticky | (0 if group is None else 0o2000))
                if group is not None:
                    os.chown(place, -1, int(group))
            case kind if kind in _WRITTEN:
                files = self._files(pod, kind, volume[kind])
                write_files(place, files, self._clock.now(), None if group is None else int(group))
            case "persistentVolumeClaim":
                claim = Key(
                    pod["metadata"]["namespace"], volume["persistentVolumeClaim"]["claimName"]
                )
                raise self._claim_missing(claim)
            case kind:
                raise VolumeMissing(f"this node has no volumes of kind {kind}")

    def _claim_missing(self, claim: Key) -> ClaimMissing:
        """Say what is wrong with a claim: this node has storage for none."""
        found = self._sources.claim(claim)
        if found is None:
            why = (
                "failed to fetch PVC from API server: "
                f'persistentvolumeclaims "{claim.name}" not found'
            )
        elif dig(found, "status", "phase") != "Bound" or not dig(found, "spec", "volumeName"):
            why = "PVC is not bound"
        else:
            why = "this node has no storage for claims"
        return ClaimMissing(f"error processing PVC {claim.namespace}/{claim.name}: {why}")

    def _files(self, pod: Tree, kind: str, source: Tree, mode: int | None = None) -> Files:
        """Return the files of a source of a volume."""
        namespace = pod["metadata"]["namespace"]
        match kind:
            case "configMap":
                name = str(source.get("name") or "")
                tree = self._sources.config_map(Key(namespace, name))
                return config_map_files(source, name, tree, mode)
            case "secret":
                name = str(source.get("secretName") or source.get("name") or "")
                tree = self._sources.secret(Key(namespace, name))
                return secret_files(source, name, tree, mode)
            case "downwardAPI":
                return downward_files(
                    source,
                    lambda path: field_value(pod, path, node_address="", address=""),
                    lambda reference: resource_value(pod, {}, reference, self._allocatable()),
                    mode,
                )
            case "serviceAccountToken":
                text = self._tokens.token(pod, source)
                mode = 0o644 if mode is None else mode
                return {str(source["path"]): PlannedFile(text.encode(), mode)}
            case _:
                return self._projected(pod, source)

    def _projected(self, pod: Tree, source: Tree) -> Files:
        files: dict[str, PlannedFile] = {}
        failures = []
        for part in source.get("sources") or ():
            for kind in ("secret", "configMap", "downwardAPI", "serviceAccountToken"):
                if part.get(kind) is not None:
                    try:
                        files |= self._files(pod, kind, part[kind], source.get("defaultMode"))
                    except VolumeMissing as why:
                        failures.append(str(why))
        if failures:
            raise together(failures)
        return files


def clear_memory(root: Path, memory: Path = SHARED_MEMORY) -> None:
    """Remove what a node that has ended holds in memory: nobody else ever would.

    Args:
        root: Its kubelet's folder.
        memory: The folder in memory that its volumes were made in.
    """
    shutil.rmtree(_memory_of(root, memory), ignore_errors=True)


def _memory_of(root: Path, memory: Path) -> Path:
    """Return a node's own folder in memory, which all nodes of the machine share."""
    mark = hashlib.sha256(str(root.absolute()).encode()).hexdigest()[:8]
    return memory / f"windtunnel-{mark}"


def _used(pod: Tree) -> list[Tree]:
    """Return the volumes that a container sees; nobody makes the others."""
    seen = {
        mount["name"]
        for container in containers(pod)
        for mount in container.get("volumeMounts") or ()
    }
    return [each for each in pod["spec"].get("volumes") or () if each["name"] in seen]


def _kind(volume: Tree) -> str:
    """The kind of a volume: the field beside its name; an emptyDir where there is none."""
    return next(
        (key for key, source in volume.items() if key != "name" and source is not None), "emptyDir"
    )


def _in_memory(volume: Tree) -> bool:
    return (volume.get("emptyDir") or {}).get("medium") == "Memory"


def _expanded(pod: Tree, container: Tree, mount: Tree) -> str:
    """Return the subPath that is written with the container's variables."""
    expression = str(mount.get("subPathExpr") or "")
    if not expression:
        return ""
    known: dict[str, str] = {}
    for entry in container.get("env") or ():
        path = dig(entry, "valueFrom", "fieldRef", "fieldPath")
        if path:
            known[entry["name"]] = field_value(pod, path, node_address="", address="")
        elif entry.get("valueFrom") is None:
            known[entry["name"]] = expand(str(entry.get("value") or ""), known)
    text = expand(expression, known)
    if "$(" in text:
        raise ValueError(f"missing value for {text[text.index('$(') + 2 :].partition(')')[0]}")
    return text


def _below(place: Path, sub_path: str, volume: str, container: str) -> Path:
    """Return a path below a volume, made where it is missing; links are followed within it."""
    refused = f'failed to prepare subPath for volumeMount "{volume}" of container "{container}"'
    if ".." in sub_path.split("/"):
        raise ValueError(refused)
    found = Path(inside(str(place), sub_path))
    if not found.exists():
        try:
            found.mkdir(parents=True, exist_ok=True)
            found.chmod(place.stat().st_mode & 0o777)
        except OSError:
            raise ValueError(refused) from None
    return found
