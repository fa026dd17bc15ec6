"""What is in a cluster before anybody asks, whether it is served or played in virtual time."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from windtunnel.client import Client
from windtunnel.machinery.tree import Key

_RUNTIMES: Final = (
    "nvidia", "nvidia-experimental", "crun", "lunatic", "slight", "spin", "wws", "wasmedge",
    "wasmer", "wasmtime",
)  # fmt: skip


def provide_account(client: Client, without: AbstractSet[str]) -> None:
    """Create the service account of namespace default, unless its controller is left out.

    No pod is admitted before it is there, and the controller that makes such accounts comes later.
    """
    account = Key("default", "default")
    if "controllers" in without or client.get("serviceaccounts", account):
        return
    metadata = {"name": account.name, "namespace": account.namespace}
    client.create("serviceaccounts", {"metadata": metadata})


def provide_runtime_classes(client: Client) -> None:
    """Create the RuntimeClasses that a k3s node brings, whether or not it has their runtimes.

    Source: k3s v1.36; a chart that makes ``nvidia`` itself is refused by helm because of them.
    """
    for name in _RUNTIMES:
        if client.get("runtimeclasses.node.k8s.io", Key("", name)) is None:
            client.create(
                "runtimeclasses.node.k8s.io", {"metadata": {"name": name}, "handler": name}
            )
