"""The ground of one scenario: a cluster in memory, and a node whose containers outlast its kubelet.

The API server, the scheduler and the controllers are a process of their own. The runtime and the
kubelet live here, the kubelet on a thread with a loop like any agent's, so that it can be stopped
and started again while containers go on.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from prometheus_client import CollectorRegistry, disable_created_metrics

from windtunnel.assembly import Settings as ClusterSettings
from windtunnel.assembly import start
from windtunnel.assembly.node import KubeletNode, Lasting
from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.home import Folder
from windtunnel.home.certificates import Keyring, provide_node
from windtunnel.kernel import Actor, Loop, WallClock
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
from windtunnel.nodes.kubelet.runtime.protocol import ContainerOrder, ContainerRecord
from windtunnel.nodes.kubelet.runtime.registries import Holding, Stock
from windtunnel.nodes.kubelet.sandboxes import Sandboxes
from windtunnel.nodes.kubelet.settings import Settings
from windtunnel.nodes.kubelet.streams.api import Credentials
from windtunnel.parity.kubelet.living import Living
from windtunnel.parity.kubelet.recording import Recording

NODE: Final = "real-0"
SHOWN_BUSYBOX: Final = "BUSYBOX"
BUSYBOX: Final = "registry.k8s.io/e2e-test-images/busybox:1.36.1-1"
"""The image that the recording's name stands for."""
PORT: Final = 26250
"""Where the recording's kubelet listened; told by the node."""
_OPERATOR: Final = "gpu-operator"
_REGISTRIES: Final = {"registry.test:5000": (Stock("ok*", Holding.BUSYBOX),)}
_IMAGES: Final = {"registry.k8s.io/pause:3.10": 2_407_108, BUSYBOX: 2_407_091}
"""What the recording's node had, with sizes in bytes."""


class RestartableNode:
    """A node whose kubelet can be stopped and started."""

    def __init__(self, make: Callable[[Loop, Tree, int | None], Actor]) -> None:
        self._make = make
        self.kubelet: Living | None = None

    def start(self, configuration: Tree, numa_nodes: int | None) -> None:
        """Start the kubelet; returns when it has begun to work.

        Args:
            configuration: Fields of a KubeletConfiguration.
            numa_nodes: How many NUMA nodes it sees; None: as many as before.
        """
        self.kubelet = Living("kubelet", lambda loop: self._make(loop, configuration, numa_nodes))

    def stop(self) -> None:
        """Stop the kubelet; containers go on."""
        if self.kubelet is not None:
            self.kubelet.stop()
            self.kubelet = None


class _Watching:
    """A recording that follows the cluster, as a part."""

    def __init__(self, recording: Recording, client: HttpClient) -> None:
        self._recording, self._client = recording, client

    def start(self) -> None:
        """Follow."""
        self._recording.watch(self._client)

    def stop(self) -> None:
        """Hang up."""
        self._client.close()


class Site:
    """One cluster with one node; use it as a context."""

    def __init__(self, port: int = 0) -> None:
        """Start the cluster; its node is started by ``node.start``.

        Args:
            port: Where the kubelet listens; 0: anywhere.
        """
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._held = ExitStack()
        root = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="wt-")))
        self.scratch = root / "scratch"
        self.scratch.mkdir()
        self.device_plugins, self.pod_resources = root / "p", root / "r"
        self._root, self._port = root, port
        process = start(
            ClusterSettings(
                name="c",
                kubeconfig=root / "kubeconfig",
                ephemeral=True,
                port=0,
                without=frozenset({"nodes"}),
                home=root,
            ),
            bound=True,
        )
        self._held.callback(process.end)
        self._folder = Folder("c", root)
        self.kubeconfig = self._folder.kubeconfig
        self._connection = kubeconfig.connection(self.kubeconfig)
        self.client = HttpClient(self._connection, "kubectl-create")
        self.registry = CollectorRegistry()
        self.engine = ContainerEngine(root / "containers", registries=_REGISTRIES, images=_IMAGES)
        self._held.callback(self.engine.close)
        self._ground = Lasting(self.engine, Sandboxes(Settings().pod_cidr))
        self._keyring = Keyring(self._folder.path / "pki")
        self._keys = provide_node(self._keyring, WallClock().now(), NODE)
        self._numa_nodes = 1
        self.own_plugin: Living | None = None
        self.node = RestartableNode(self._kubelet)
        self._held.callback(self.node.stop)

    def follow(self, recording: Recording) -> None:
        """Have a recording follow the cluster, on a thread of its own."""

        def watching(loop: Loop) -> Actor:
            return _Watching(recording, HttpClient(self._connection, "recorder", loop))

        self._held.callback(Living("recording", watching).stop)

    @property
    def kubelet_root(self) -> Path:
        """Return the kubelet's own folder."""
        return self._root / "n" / "var/lib/kubelet"

    def order(self, pod: str, container: str) -> ContainerOrder | None:
        """Return the order of a pod's latest container of this name."""
        records: list[ContainerRecord] = [
            one for one in self.engine.containers() if one.pod_name == pod and one.name == container
        ]
        latest = max(records, key=lambda one: one.attempt, default=None)
        return None if latest is None else self.engine.order(latest.id)

    def metrics(self, resources: set[str]) -> list[str]:
        """Return the kubelet's counts that name one of the resources, as its text has them."""
        found = []
        for family in self.registry.collect():
            for sample in family.samples:
                named = resources & set(sample.labels.values())
                if named and sample.name.endswith(("_count", "_total")):
                    labels = ",".join(
                        f'{name}="{value}"' for name, value in sorted(sample.labels.items())
                    )
                    found.append(f"{sample.name}{{{labels}}} {sample.value:g}")
        return sorted(found)

    def start_own_plugin(self, topology: str) -> None:
        """Start our own device plugin where the recording ran the original one."""
        # One scenario in a hundred wants it.
        from windtunnel.gpu.device_plugin import DevicePlugin, read_settings

        namespace: Tree = {"metadata": {"name": _OPERATOR}}
        self.client.create("namespaces", namespace)
        environment = {
            "NODE_NAME": NODE,
            "TOPOLOGY_CM_NAME": "topology",
            "TOPOLOGY_CM_NAMESPACE": _OPERATOR,
        }
        settings = replace(read_settings(environment), root=self._root / "n")
        name = settings.document.name
        document = {
            "metadata": {"name": name, "namespace": _OPERATOR},
            "data": {"topology.yml": topology},
        }
        self.client.create("configmaps", document)
        # As the original did: ids are drawn anew, whatever the document says.
        original = {
            "metadata": {"name": "topology", "namespace": _OPERATOR},
            "data": {"topology.yml": 'compat: "0.2"\nnodePools: {}\n'},
        }
        self.client.create("configmaps", original)
        # The plugin's container has the host's folder elsewhere.
        host = self._root / "n/var/lib/runai"
        host.mkdir(parents=True, exist_ok=True)
        (self._root / "n/runai").symlink_to(host)
        self.own_plugin = Living(
            "device-plugin",
            lambda loop: DevicePlugin(
                HttpClient(self._connection, "device-plugin", loop), loop, settings
            ),
        )
        self._held.callback(self.own_plugin.stop)

    def close(self) -> None:
        """Stop everything and remove what it left."""
        with suppress(OSError):
            self._held.close()

    def _kubelet(self, loop: Loop, configuration: Tree, numa_nodes: int | None) -> KubeletNode:
        self._numa_nodes = numa_nodes or self._numa_nodes
        self.registry = CollectorRegistry()
        settings = Settings(
            name=NODE,
            distribution="plain",
            port=self._port,
            cpus=2,
            memory="24684092Ki",
            ephemeral_storage="264212084Ki",
            version="v1.36.3",
            runtime_version="containerd://1.6.20",
            root=self._root / "n",
            topology_manager_policy=configuration.get("topologyManagerPolicy", "none"),
            topology_manager_scope=configuration.get("topologyManagerScope", "container"),
            numa_nodes=self._numa_nodes,
        )
        keys = self._keys
        connection = dataclasses.replace(
            self._connection,
            certificate=keys.client.read_bytes(),
            key=keys.client_key.read_bytes(),
        )
        return KubeletNode(
            connection,
            loop,
            settings,
            self._ground,
            credentials=Credentials(keys.serving, keys.serving_key, self._keyring.authority),
            plugins=self.device_plugins,
            pod_resources=self.pod_resources,
            registry=self.registry,
            proxied=False,
        )
