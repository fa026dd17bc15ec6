"""What is counted of devices, under the names a real kubelet gives."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram


class DeviceCounts:
    """The metrics of device plugins, pod resources and topology, in a registry of the node's."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Count into ``registry``; None makes one."""
        self.registry = CollectorRegistry(auto_describe=True) if registry is None else registry
        self.registrations = Counter(
            "kubelet_device_plugin_registration",
            "Cumulative number of device plugin registrations, by resource.",
            ["resource_name"],
            registry=self.registry,
        )
        self.allocation_seconds = Histogram(
            "kubelet_device_plugin_alloc_duration_seconds",
            "How long device plugins took to answer Allocate, by resource.",
            ["resource_name"],
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self.pod_resources = Counter(
            "kubelet_pod_resources_endpoint_requests",
            "Cumulative number of requests to the PodResource endpoint, by server version.",
            ["server_api_version"],
            registry=self.registry,
        )
        self.pod_resources_of = {
            call: Counter(
                f"kubelet_pod_resources_endpoint_requests_{call}",
                f"Number of {call} requests to the PodResource endpoint, by server version.",
                ["server_api_version"],
                registry=self.registry,
            )
            for call in ("list", "get", "get_allocatable")
        }
        self.alignments = Counter(
            "kubelet_topology_manager_admission_requests",
            "Number of admission requests whose resources had to be aligned.",
            registry=self.registry,
        )
        self.misalignments = Counter(
            "kubelet_topology_manager_admission_errors",
            "Number of admission requests whose resources could not be aligned.",
            registry=self.registry,
        )
