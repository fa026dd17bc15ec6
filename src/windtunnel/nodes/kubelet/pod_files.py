"""The few files that the kubelet itself puts into a container: its hosts and its last words."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.hosts_file import hosts_text, with_services
from windtunnel.nodes.kubelet.pod_spec import host_name, pod_key, termination_path, uid_of
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, Mount

_LARGEST: Final = 4096
_TAIL_BYTES: Final = 2048
_TAIL_LINES: Final = 80


class PodFiles:
    """Files of pods below the kubelet's folder; its calls block a little.

    Args:
        root: The kubelet's folder.
        host_lines: From a namespace to what hosts files there say of services; None: nothing.
    """

    def __init__(self, root: Path, host_lines: Callable[[str], list[str]] | None = None) -> None:
        self._root, self._host_lines = root, host_lines or _no_lines
        self._hosts = threading.Lock()
        self._words: dict[str, str] = {}

    def provide(self, pod: Tree, container: Tree, attempt: int, address: str) -> list[Mount]:
        """Write what one run of a container needs, and return where it is to be seen.

        Args:
            pod: The pod.
            container: The container's spec.
            attempt: Which run it is.
            address: The pod's address; empty on the host's network.
        """
        mounts = []
        folder = self._folder(uid_of(pod))
        hosts = self._hosts_file(uid_of(pod))
        if not any(
            each.get("mountPath") == "/etc/hosts" for each in container.get("volumeMounts") or ()
        ):
            folder.mkdir(parents=True, exist_ok=True)
            with self._hosts:
                services = self._host_lines(pod_key(pod).namespace)
                hosts.write_text(with_services(pod_hosts(pod, address), services))
            mounts.append(Mount(host_path=str(hosts), container_path="/etc/hosts"))
        words = self._last_words(uid_of(pod), container["name"], attempt)
        words.parent.mkdir(parents=True, exist_ok=True)
        words.write_bytes(b"")
        words.chmod(0o666)
        mounts.append(Mount(host_path=str(words), container_path=termination_path(container)))
        return mounts

    def last_words(self, container: Tree, record: ContainerRecord) -> str:
        """Return what a container that has exited left as its message."""
        if record.message:
            return record.message
        if record.id not in self._words:
            self._words[record.id] = self._read(container, record)
        return self._words[record.id]

    def renew(self, pods: Iterable[Tree]) -> None:
        """Let hosts files that pods have say what they are to say of services now.

        What containers have changed in them stays; the file is the one that they see.
        """
        for pod in pods:
            with self._hosts, suppress(FileNotFoundError):
                self._renew(self._hosts_file(uid_of(pod)), pod_key(pod).namespace)

    def remove(self, uid: str) -> None:
        """Remove a pod's files."""
        shutil.rmtree(self._folder(uid), ignore_errors=True)

    def _renew(self, hosts: Path, namespace: str) -> None:
        with hosts.open("r+", errors="surrogateescape", newline="") as file:
            known = file.read()
            text = with_services(known, self._host_lines(namespace))
            if text != known:
                file.seek(0)
                file.write(text)
                file.truncate()

    def _read(self, container: Tree, record: ContainerRecord) -> str:
        path = self._last_words(record.pod_uid, record.name, record.attempt)
        try:
            with path.open("rb") as file:
                file.seek(max(path.stat().st_size - _LARGEST, 0))
                said = file.read(_LARGEST).decode(errors="replace")
        except OSError:
            said = ""
        fallback = container.get("terminationMessagePolicy") == "FallbackToLogsOnError"
        if said or not fallback or record.exit_code == 0:
            return said
        return _tail(record.log_path)

    def _folder(self, uid: str) -> Path:
        return self._root / "pods" / uid

    def _hosts_file(self, uid: str) -> Path:
        return self._folder(uid) / "etc-hosts"

    def _last_words(self, uid: str, name: str, attempt: int) -> Path:
        return self._folder(uid) / "containers" / name / str(attempt)


def pod_hosts(pod: Tree, address: str) -> str:
    """Return a pod's hosts file, without services."""
    names = [host_name(pod)]
    subdomain = pod["spec"].get("subdomain")
    if subdomain:
        names.insert(0, f"{names[0]}.{subdomain}.{pod_key(pod).namespace}.svc.cluster.local")
    lines: list[str] = []
    aliases = pod["spec"].get("hostAliases") or ()
    if aliases:
        lines += ["", "# Entries added by HostAliases."]
        lines += ["\t".join([each["ip"], *(each.get("hostnames") or ())]) for each in aliases]
    return hosts_text(address, names, lines)


def _no_lines(_: str) -> list[str]:
    return []


def _tail(path: Path) -> str:
    """Return the end of a container's log, without the stamps."""
    try:
        lines = path.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
    except OSError:
        return ""
    parts = [line.split(" ", 3) for line in lines]
    text = "".join(words[-1] + ("\n" if "F" in words[2:3] else "") for words in parts)
    return text.encode()[-_TAIL_BYTES:].decode(errors="replace")
