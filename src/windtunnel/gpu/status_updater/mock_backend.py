"""The mock of NVML: for each pool that asks for it, a configuration and who runs it on the nodes.

A pool that cannot be served is told of in an Event and keeps what it has; the others go on. Objects
of pools that are gone are deleted; nothing is, while no document says anything.

Source: fake-gpu-operator 0.2, pools with ``backend: mock``.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Final

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.devices import MOCK, DeclaredPool, merged, resolve, sorted_yaml
from windtunnel.gpu.pools import Pools
from windtunnel.gpu.status_updater.settings import Settings
from windtunnel.kernel import Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree, dig, key_of

_AGAIN_SECONDS: Final = 30.0
_CONFIG: Final = "config.yaml"
_HASH: Final = "fake-gpu-operator/config-hash"
_POOL: Final = "fake-gpu-operator/pool"
_OWNED: Final = {
    "app.kubernetes.io/managed-by": "fake-gpu-operator",
    "fake-gpu-operator/component": "nvml-mock",
}
_DAEMON_SETS: Final = "daemonsets.apps"
_HOST_FOLDERS: Final = (
    ("host-nvml-mock", "/var/lib/nvml-mock"),
    ("host-cdi", "/var/run/cdi"),
    ("host-run-nvidia", "/run/nvidia"),
)
_SCRIPT: Final = (
    "/scripts/entrypoint.sh & pid=$!; "
    "while kill -0 $pid && ! [ -L /host/run/nvidia/driver ]; do sleep 1; done; "
    "mkdir -p /host/run/nvidia/validations && touch /host/run/nvidia/validations/toolkit-ready; "
    "wait $pid"
)
"""Tells those who wait for a driver that it is there, once the image has linked it."""


class MockBackend:
    """Keeps the objects of pools with the mock backend."""

    name = "mock-backend"

    def __init__(self, client: Client, loop: Loop, settings: Settings, pools: Pools) -> None:
        self._client, self._settings, self._pools = client, settings, pools
        self._queue = Worker(loop, self).queue
        self._events = Recorder(client, loop, self.name)
        self._told: dict[str, str] = {}

    def look(self) -> None:
        """Look at the pools soon, and again every half a minute."""
        self._queue.add("")

    def stop(self) -> None:
        """Look no more."""
        self._queue.drop("")

    def reconcile(self, _: str) -> Result:
        """Bring the objects of all pools in line."""
        pools = self._pools
        mocked = {name: pool for name, pool in pools.pools().items() if pool.backend == MOCK}
        kept = set()
        for name, pool in mocked.items():
            kept.add(_object_name(name))
            try:
                config = sorted_yaml(_profile_of(pool, pools))
                driver = resolve(pool, pools.profile)
            except ValueError as error:
                self._tell(name, f"no mock for pool {name}: {error}")
                continue
            self._told.pop(name, None)
            self._keep_config(name, config)
            counts = {"GPU_COUNT": str(driver.count), "DRIVER_VERSION": driver.driver_version}
            self._keep_daemons(name, config, counts, pools.cluster.label_key)
        self._delete_others(kept)
        return Result(again_in=_AGAIN_SECONDS)

    def _keep_config(self, pool: str, config: str) -> None:
        key = Key(self._settings.topology_namespace, _object_name(pool))
        there = self._client.get("configmaps", key)
        if there is None:
            tree = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": _metadata(key, pool),
                "data": {_CONFIG: config},
            }
            self._client.create("configmaps", tree)
        elif (there.get("data") or {}).get(_CONFIG) != config:
            self._client.patch("configmaps", key, {"data": {_CONFIG: config}})

    def _keep_daemons(self, pool: str, config: str, counts: dict[str, str], label_key: str) -> None:
        """Make the DaemonSet, or change what is ours in it: what others added stays."""
        key = Key(self._settings.topology_namespace, _object_name(pool))
        digest = hashlib.sha256(config.encode()).hexdigest()
        container = _container(self._settings, counts)
        there = self._client.get(_DAEMON_SETS, key)
        if there is None:
            self._client.create(
                _DAEMON_SETS, _daemon_set(key, pool, container, digest, {label_key: pool})
            )
            return
        template: Tree = there["spec"]["template"]
        (current, *_) = dig(template, "spec", "containers") or [{}]
        same = all(
            current.get(field) == container[field]
            for field in ("image", "command", "args", "lifecycle")
        )
        if same and dig(template, "metadata", "annotations", _HASH) == digest:
            return
        template.setdefault("metadata", {}).setdefault("annotations", {})[_HASH] = digest
        template["spec"]["containers"] = [container]
        self._client.update(_DAEMON_SETS, there)

    def _delete_others(self, kept: set[str]) -> None:
        selector = ",".join(f"{key}={value}" for key, value in _OWNED.items())
        for resource in (_DAEMON_SETS, "configmaps"):
            found = self._client.list(
                resource, self._settings.topology_namespace, label_selector=selector
            )
            for tree in found:
                key = key_of(tree)
                if key.name not in kept:
                    with suppress(NotFound):
                        self._client.delete(resource, key, propagation="Background")

    def _tell(self, pool: str, words: str) -> None:
        """Record an Event, once for as long as it holds."""
        if self._told.get(pool) != words:
            self._told[pool] = words
            subject = Subject(
                "ConfigMap", self._settings.topology_name, self._settings.topology_namespace
            )
            self._events.warning(subject, "BrokenPool", words)


def _profile_of(pool: DeclaredPool, pools: Pools) -> Tree:
    if not pool.profile:
        raise ValueError("mock pool requires a non-empty profile")
    tree: Tree = merged(pools.profile(pool.profile), pool.overrides)
    return tree


def _object_name(pool: str) -> str:
    return f"nvml-mock-{pool}"


def _metadata(key: Key, pool: str) -> Tree:
    return {"name": key.name, "namespace": key.namespace, "labels": {**_OWNED, _POOL: pool}}


def _container(settings: Settings, counts: dict[str, str]) -> Tree:
    node = {"valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}
    mounts = [{"name": name, "mountPath": f"/host{path}"} for name, path in _HOST_FOLDERS]
    mounts.insert(1, {"name": "gpu-config", "mountPath": "/etc/nvml-mock"})
    return {
        "name": "nvml-mock",
        "image": settings.mock_image,
        "imagePullPolicy": settings.mock_pull_policy,
        "command": ["/bin/sh", "-c"],
        "args": [_SCRIPT],
        "env": [
            *({"name": name, "value": value} for name, value in counts.items()),
            {"name": "NODE_NAME", **node},
        ],
        "volumeMounts": mounts,
        "lifecycle": {"preStop": {"exec": {"command": ["/scripts/cleanup.sh"]}}},
        "securityContext": {"privileged": True},
    }


def _daemon_set(
    key: Key, pool: str, container: Tree, digest: str, node_selector: dict[str, str]
) -> Tree:
    labels = {**_OWNED, _POOL: pool}
    volumes: list[Tree] = [
        {"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
        for name, path in _HOST_FOLDERS
    ]
    volumes.insert(1, {"name": "gpu-config", "configMap": {"name": key.name}})
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": _metadata(key, pool),
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": dict(labels), "annotations": {_HASH: digest}},
                "spec": {
                    "nodeSelector": node_selector,
                    "serviceAccountName": "nvml-mock",
                    "containers": [container],
                    "volumes": volumes,
                },
            },
        },
    }
