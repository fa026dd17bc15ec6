"""What the topology server answers: pure, but for the call that reads a ConfigMap.

Source: fake-gpu-operator 0.2. Field names are capitalised, lists and maps that a document does not
have are null, and the pools are those that a reader of the older form sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from windtunnel.devices import (
    TOPOLOGY_KEY,
    GpuStatus,
    MigInstance,
    OtherDevice,
    geometry_of,
    gpu_instance_id,
    load_yaml,
    node_config_map_name,
    parse_cluster_topology,
    parse_node_topology,
)
from windtunnel.gpu.http_server import PLAIN, HttpReply
from windtunnel.machinery.tree import Tree, dig, encode

_NODES: Final = "/topology/nodes/"
ReadConfigMap = Callable[[str], Tree | None]


_NOT_FOUND: Final = HttpReply(404, b"404 page not found\n", PLAIN)
_ELSEWHERE: Final = HttpReply(
    307,
    b'<a href="/topology/nodes/">Temporary Redirect</a>.\n\n',
    "text/html; charset=utf-8",
    _NODES,
)


def answer(path: str, topology_name: str, read: ReadConfigMap) -> HttpReply:
    """Answer a request for a path, whatever its method.

    Args:
        path: Without its query.
        topology_name: The ConfigMap of the cluster's pools.
        read: Returns a ConfigMap by name, None where there is none; raises OSError or ApiError
            where that cannot be said.
    """
    if path == "/topology":
        return _pools(topology_name, read)
    if path == _NODES.rstrip("/"):
        return _ELSEWHERE
    if not path.startswith(_NODES):
        return _NOT_FOUND
    node = path.removeprefix(_NODES).partition("/")[0]
    if not node:
        return HttpReply(400, f"Can't get node name from url {path}".encode())
    tree = read(node_config_map_name(topology_name, node))
    if tree is None:
        return HttpReply(404, b"Node topology not found")
    try:
        return HttpReply(200, encode(_node(dig(tree, "data", TOPOLOGY_KEY) or "")) + b"\n")
    except ValueError as error:
        return HttpReply(500, f"failed to parse node topology: {error}".encode())


def _pools(topology_name: str, read: ReadConfigMap) -> HttpReply:
    tree = read(topology_name)
    if tree is None:
        words = f'failed to get topology configmap: configmaps "{topology_name}" not found'
        return HttpReply(500, words.encode())
    try:
        found = parse_cluster_topology(dig(tree, "data", TOPOLOGY_KEY) or "")
    except ValueError as error:
        return HttpReply(500, f"failed to parse topology configmap: {error}".encode())
    pools: Tree | None = None
    if found.pools is not None:
        pools = {
            name: {
                "GpuCount": pool.legacy.gpu_count,
                "GpuMemory": pool.legacy.gpu_memory,
                "GpuProduct": pool.legacy.gpu_product,
                "OtherDevices": _others(pool.legacy.other_devices) or None,
            }
            for name, pool in sorted(found.pools.items())
        }
    body = {
        "NodePools": pools,
        "NodePoolLabelKey": found.label_key,
        "MigStrategy": found.mig_strategy,
    }
    return HttpReply(200, encode(body) + b"\n")


def _node(text: str) -> Tree:
    """Return a node's document with capitalised names.

    Raises:
        ValueError: the document cannot be read.
    """
    topology = parse_node_topology(text)
    written = load_yaml(text) or {}  # says which lists and maps there are
    gpus: list[Tree] = []
    listed = [item for item in written.get("gpus") or () if item is not None]
    for gpu, item in zip(topology.gpus, listed, strict=True):
        fault = {"Fault": gpu.fault} if gpu.fault else {}
        has_usage = _is_there(item, "status", "podGpuUsageStatus")
        told: Tree = {"ID": gpu.id, "Status": _status(gpu.status, has_usage=has_usage), **fault}
        if gpu.mig is not None:
            told["Mig"] = [
                {
                    "ID": one.id,
                    "Profile": one.profile,
                    "Start": one.start,
                    **_instance(topology.gpu_product, one),
                    "Status": _status(one.status, has_usage=True),
                }
                for one in gpu.mig
            ]
        gpus.append(told)
    return {
        "GpuMemory": topology.gpu_memory,
        "GpuProduct": topology.gpu_product,
        "DriverVersion": topology.driver_version,
        "CudaVersion": topology.cuda_version,
        "Gpus": gpus if _is_there(written, "gpus") else None,
        "MigStrategy": topology.mig_strategy,
        "OtherDevices": _others(topology.other_devices)
        if _is_there(written, "otherDevices")
        else None,
    }


def _instance(product: str, one: MigInstance) -> dict[str, int]:
    """Return what a driver calls a slice; one that nobody knows has the id of its place."""
    try:
        geometry = geometry_of(product)
        profile = geometry.profile(one.profile)
    except ValueError:
        return {"InstanceID": one.start}
    return {
        "InstanceID": gpu_instance_id(geometry, profile, one.start),
        "ProfileID": profile.id,
        "Size": profile.size,
    }


def _status(status: GpuStatus, *, has_usage: bool) -> Tree:
    owner = status.allocated_by
    usage = {
        uid: {
            "Utilization": {"Min": pod.utilization.min, "Max": pod.utilization.max},
            "FbUsed": pod.fb_used,
            "UseKnativeUtilization": pod.use_knative_utilization,
        }
        for uid, pod in sorted(status.pod_gpu_usage_status.items())
    }
    return {
        "AllocatedBy": {
            "Namespace": owner.namespace,
            "Pod": owner.pod,
            "Container": owner.container,
        },
        "PodGpuUsageStatus": usage if has_usage else None,
    }


def _others(devices: tuple[OtherDevice, ...]) -> list[Tree]:
    return [{"Name": device.name, "Count": device.count} for device in devices]


def _is_there(tree: Any, *path: str) -> bool:
    return dig(tree, *path) is not None
