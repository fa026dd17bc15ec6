"""The rule by which Run:ai reads the metrics of played nodes: made where it is missing.

Source: fake-gpu-operator 0.2. It is never changed once it is there, and never taken away.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop, Result, Worker
from windtunnel.machinery.errors import AlreadyExists, NotFound
from windtunnel.machinery.tree import Key, Tree

_RULES: Final = "prometheusrules.monitoring.coreos.com/v1"
_KEY: Final = Key("runai", "fake-gpu-operator-kwok-dcgm")
_RECORDS: Final = {
    "runai_dcgm_gpu_utilization": "DCGM_FI_DEV_GPU_UTIL",
    "runai_dcgm_gpu_used_mebibytes": "DCGM_FI_DEV_FB_USED",
    "runai_dcgm_gpu_total_mebibytes": "(DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)",
}
_RENAMED: Final = (
    ("pod_name", "exported_pod"),
    ("pod_namespace", "exported_namespace"),
    ("node", "Hostname"),
)


class RunaiRule:
    """Looks after the rule every so often."""

    name = "runai-rule"

    def __init__(self, client: Client, loop: Loop, every_seconds: float) -> None:
        self._client, self._every = client, every_seconds
        self._queue = Worker(loop, self).queue

    def look(self) -> None:
        """Look soon, and again and again."""
        self._queue.add("")

    def stop(self) -> None:
        """Look no more."""
        self._queue.drop("")

    def reconcile(self, _: str) -> Result:
        """Make the rule, if Run:ai and Prometheus' operator are here and it is not."""
        again = Result(again_in=self._every)
        try:
            if self._client.get("namespaces", Key("", _KEY.namespace)) is None:
                return again
            if self._client.get(_RULES, _KEY) is None:
                self._client.create(_RULES, _rule())
        except (NotFound, AlreadyExists, ClusterError):
            return again  # a cluster without such a kind, or a moment too early
        return again


def _rule() -> Tree:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": _KEY.name,
            "namespace": _KEY.namespace,
            "labels": {"app": "nvidia-dcgm-exporter", "component": "status-exporter-kwok"},
        },
        "spec": {
            "groups": [
                {
                    "name": "kwok-dcgm-metrics",
                    "rules": [
                        {"record": record, "expr": _renamed(series)}
                        for record, series in _RECORDS.items()
                    ],
                }
            ]
        },
    }


def _renamed(series: str) -> str:
    """Return an expression with the labels that Run:ai knows."""
    for label, exported in _RENAMED:
        series = f'label_replace( {series}, "{label}", "$1", "{exported}", "(.+)" )'
    return f"{series} * on(node) group_left(nodepool) runai_node_nodepool_excluded"
