"""How a node that runs containers is put together: kubelet, runtime, devices, volumes, HTTP API.

``Lasting`` is what outlives a kubelet: the containers and their sandboxes. A ``KubeletNode`` is one
run of the kubelet over it: stopped and made anew, it goes on with the containers that it finds.
When the process ends the containers end with it, as on a machine that is switched off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from windtunnel.assembly.node_arguments import NodeArguments
from windtunnel.assembly.node_sockets import NodeSockets
from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.kubelet import Kubelet
from windtunnel.nodes.kubelet.node.machine import look
from windtunnel.nodes.kubelet.outside import Outside
from windtunnel.nodes.kubelet.sandboxes import Sandboxes
from windtunnel.nodes.kubelet.settings import Settings
from windtunnel.nodes.kubelet.volumes.places import HostPlaces
from windtunnel.nodes.kubelet.volumes.sources import ApiSources
from windtunnel.nodes.kubelet.volumes.volumes import PodVolumes, clear_memory

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from windtunnel.nodes.kubelet.runtime.protocol import Runtime
    from windtunnel.nodes.kubelet.services import ServiceProxy
    from windtunnel.nodes.kubelet.streams.api import Credentials, KubeletApi

_BOOT_PATIENCE_SECONDS: Final = 30.0
"""How long a pod waits for its devices when the node comes back; a plugin needs 2 to 4 s."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """What goes on while a kubelet restarts."""

    runtime: Runtime
    sandboxes: Sandboxes


class KubeletNode:
    """One run of a kubelet; it may be started once."""

    def __init__(
        self,
        connection: Connection,
        loop: Loop,
        settings: Settings,
        ground: Lasting,
        *,
        credentials: Credentials | None,
        plugins: Path,
        pod_resources: Path,
        registry: CollectorRegistry | None = None,
        proxied: bool = True,
    ) -> None:
        """Make the parts of a node; none of them does anything before ``start``.

        Args:
            connection: How the API server is reached, as the node's own user.
            loop: Whose steps the node takes.
            settings: The node.
            ground: Its containers.
            credentials: Of its HTTP API; None serves none.
            plugins: The folder of device plugins' sockets; the node's root leads there.
            pod_resources: The folder of the pod resources socket.
            registry: Where things are counted.
            proxied: Whether services are reached through the node; else at their own addresses.
        """
        # Here, because they import gRPC and asyncio: who only reads settings shall not pay.
        from windtunnel.nodes.kubelet.devices.counts import DeviceCounts
        from windtunnel.nodes.kubelet.devices.devices import Devices

        self._connection, self._loop, self._settings = connection, loop, settings
        self._ground, self._credentials = ground, credentials
        self._api: KubeletApi | None = None
        self._clients: list[HttpClient] = []
        self._outside = Outside(loop)
        self._counts = DeviceCounts(registry)
        self._links = {
            settings.kubelet_root / "device-plugins": plugins,
            settings.kubelet_root / "pod-resources": pod_resources,
        }
        self._devices = Devices(
            loop,
            self._outside,
            plugins,
            pod_resources,
            lambda: None if self._kubelet is None else self._kubelet.active(),
            policy=settings.topology_manager_policy,
            scope=settings.topology_manager_scope,
            numa_nodes=settings.numa_nodes,
            counts=self._counts,
        )
        self._volumes = PodVolumes(
            settings.kubelet_root,
            ApiSources(self._client("kubelet-volumes")),
            HostPlaces(settings.root),
            loop.clock,
            allocatable=self._allocatable,
        )
        self._proxy = self._proxy_for(settings) if proxied else None
        self._kubelet: Kubelet | None = None

    def start(self) -> None:
        """Serve the node's API, speak to device plugins, make pods run."""
        settings = self._settings
        for link, folder in self._links.items():
            _lead(link, folder)
        if self._credentials is not None:
            settings = msgspec.structs.replace(settings, port=self._serve(settings))
        self._kubelet = Kubelet(
            self._client("kubelet", self._loop),
            self._loop,
            settings,
            runtime=self._ground.runtime,
            devices=self._devices,
            volumes=self._volumes,
            sandboxes=self._ground.sandboxes,
            machine=look(settings.root),
            outside=self._outside,
            reach=self._proxy.reach if self._proxy is not None else None,
            host_lines=self._proxy.host_lines if self._proxy is not None else None,
        )
        self._devices.start()
        if self._proxy is not None:
            self._proxy.start()
        self._kubelet.start()

    def stop(self) -> None:
        """Stop everything but the containers."""
        if self._kubelet is not None:
            self._kubelet.stop()
        if self._proxy is not None:
            self._proxy.stop()
        self._devices.stop()
        if self._api is not None:
            self._api.stop()
        for client in self._clients:
            client.close()

    def _proxy_for(self, settings: Settings) -> ServiceProxy:
        from windtunnel.nodes.kubelet.services import ServiceProxy

        api = (settings.api_host, settings.api_port)
        return ServiceProxy(
            self._client("kube-proxy", self._loop),
            self._loop,
            api,
            at=settings.services_at,
            changed=self._services_changed,
            memory=settings.root.parent / "ports",
        )

    def _services_changed(self) -> None:
        if self._kubelet is not None:
            self._kubelet.services_changed()

    def _client(self, manager: str, loop: Loop | None = None) -> HttpClient:
        client = HttpClient(self._connection, manager, loop)
        self._clients.append(client)
        return client

    def _serve(self, settings: Settings) -> int:
        from windtunnel.nodes.kubelet.streams.api import KubeletApi

        self._api = KubeletApi(
            self._ground.runtime,
            self._pods,
            lambda *names: None if self._kubelet is None else self._kubelet.find(*names),
            node=settings.name,
            review=self._client("kubelet-review"),
            clock=self._loop.clock,
            credentials=self._credentials,
            configuration=lambda: configuration(settings),
            figures=self._figures,
            crashed=lambda error: self._loop.report("kubelet api", settings.name, error),
        )
        return self._api.start(settings.address, settings.port)

    def _allocatable(self) -> Mapping[str, str]:
        return {} if self._kubelet is None else self._kubelet.allocatable()

    def _pods(self) -> list[Tree]:
        return [] if self._kubelet is None else self._kubelet.pods()

    def _figures(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self._counts.registry)


def configuration(settings: Settings) -> Tree:
    """Return the KubeletConfiguration that is in force, as far as it can be set."""
    return {
        "kind": "KubeletConfiguration",
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "address": settings.address,
        "port": settings.port,
        "maxPods": settings.max_pods,
        "nodeStatusUpdateFrequency": f"{settings.status_seconds:g}s",
        "nodeLeaseDurationSeconds": settings.lease_seconds,
        "syncFrequency": f"{settings.sync_seconds:g}s",
        "topologyManagerPolicy": settings.topology_manager_policy,
        "topologyManagerScope": settings.topology_manager_scope,
    }


class WholeNode:
    """A node that begins with no container and leaves none behind."""

    def __init__(self, connection: Connection, loop: Loop, order: NodeArguments) -> None:
        """Make it.

        Args:
            connection: How the API server is reached, as the node's own user.
            loop: Whose steps it takes.
            order: What it was told.
        """
        from windtunnel.gpu.smi import PROGRAM
        from windtunnel.nodes.kubelet.network import Network, claim_again
        from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
        from windtunnel.nodes.kubelet.streams.api import Credentials

        self._network = (
            Network(order.network)
            if order.network
            else claim_again(order.settings.root.parent / "network")
        )
        settings = msgspec.structs.replace(
            order.settings,
            pod_cidr=self._network.pod_cidr,
            services_at=self._network.services,
            boot_patience_seconds=_BOOT_PATIENCE_SECONDS,
        )
        folder = order.certificates
        self._kubelet_root = settings.kubelet_root
        self._sockets = NodeSockets(settings.root)
        self._engine = ContainerEngine(
            settings.root.parent / "containers",
            clock=loop.clock,
            files={"/bin/nvidia-smi": PROGRAM},
            records=settings.root.parent / "records",
        )
        credentials = None
        if folder is not None:
            credentials = Credentials(
                folder / f"kubelet-{settings.name}.crt",
                folder / f"kubelet-{settings.name}.key",
                folder / "ca.crt",
            )
        self._node = KubeletNode(
            connection,
            loop,
            settings,
            Lasting(self._engine, Sandboxes(settings.pod_cidr)),
            credentials=credentials,
            plugins=self._sockets.plugins,
            pod_resources=self._sockets.pod_resources,
        )

    def start(self) -> None:
        """Start the node."""
        self._node.start()

    def stop(self) -> None:
        """Stop the node and every container."""
        self._node.stop()
        self._engine.close()
        clear_memory(self._kubelet_root)
        self._sockets.leave()
        self._network.release()


def _lead(link: Path, folder: Path) -> None:
    """Let a path of the node's root lead to a folder elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink() or link.is_file():
        link.unlink()
    elif link.is_dir():
        return
    link.symlink_to(folder)
