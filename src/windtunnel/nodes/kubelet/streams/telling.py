"""What a kubelet tells of itself: its pods, figures in Prometheus' format, a summary.

Figures of CPU and memory use are left out: nothing here measures them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, ContainerState

_LIST: Final[Tree] = {"kind": "PodList", "apiVersion": "v1", "metadata": {}}


def pod_list(pods: Sequence[Tree]) -> Tree:
    """Return the pods as a list."""
    return {**_LIST, "items": list(pods)}


def running_pods(records: Iterable[ContainerRecord]) -> Tree:
    """Return the pods that the runtime runs, with nothing but their containers."""
    items: dict[str, Tree] = {}
    for record in records:
        if record.state is not ContainerState.RUNNING:
            continue
        pod = items.setdefault(
            record.pod_uid,
            {
                "metadata": {
                    "name": record.pod_name,
                    "namespace": record.pod_namespace,
                    "uid": record.pod_uid,
                },
                "spec": {"containers": []},
                "status": {},
            },
        )
        pod["spec"]["containers"].append(
            {"name": record.name, "image": record.image_id, "resources": {}}
        )
    return {**_LIST, "items": [items[uid] for uid in sorted(items)]}


def summary(node: str, pods: Sequence[Tree], records: Iterable[ContainerRecord]) -> Tree:
    """Return the summary of stats: who runs since when."""
    running: dict[str, list[ContainerRecord]] = {}
    for record in records:
        if record.state is ContainerState.RUNNING:
            running.setdefault(record.pod_uid, []).append(record)
    return {
        "node": {"nodeName": node},
        "pods": [
            {
                "podRef": {
                    "name": dig(pod, "metadata", "name"),
                    "namespace": dig(pod, "metadata", "namespace"),
                    "uid": dig(pod, "metadata", "uid"),
                },
                "startTime": dig(pod, "status", "startTime"),
                "containers": [
                    {"name": record.name, "startTime": time_text(record.started_at)}
                    for record in running[dig(pod, "metadata", "uid")]
                ],
            }
            for pod in pods
            if dig(pod, "metadata", "uid") in running
        ],
    }


def counts(node: str, pods: Sequence[Tree], records: Iterable[ContainerRecord]) -> bytes:
    """Return the figures that are known of any node."""
    states = dict.fromkeys(ContainerState, 0)
    uids = set()
    for record in records:
        states[record.state] += 1
        if record.state is ContainerState.RUNNING:
            uids.add(record.pod_uid)
    lines = [
        "# TYPE kubelet_desired_pods gauge",
        f'kubelet_desired_pods{{static=""}} {len(pods)}',
        "# TYPE kubelet_node_name gauge",
        f'kubelet_node_name{{node="{node}"}} 1',
        "# TYPE kubelet_running_containers gauge",
        *(
            f'kubelet_running_containers{{container_state="{state.value}"}} {count}'
            for state, count in states.items()
        ),
        "# TYPE kubelet_running_pods gauge",
        f"kubelet_running_pods {len(uids)}",
    ]
    return "\n".join([*lines, ""]).encode()


def resource_figures(records: Iterable[ContainerRecord]) -> bytes:
    """Return the figures of single containers."""
    lines = [
        "# TYPE container_start_time_seconds gauge",
        *(
            f'container_start_time_seconds{{container="{record.name}",'
            f'namespace="{record.pod_namespace}",pod="{record.pod_name}"}} {record.started_at}'
            for record in records
            if record.state is ContainerState.RUNNING
        ),
        "# TYPE resource_scrape_error gauge",
        "resource_scrape_error 0",
    ]
    return "\n".join([*lines, ""]).encode()
