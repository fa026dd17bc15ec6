"""What is in a cluster before anybody asks, whether it is served or played in virtual time."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from windtunnel.client import Client
from windtunnel.machinery.tree import Key


def provide_account(client: Client, without: AbstractSet[str]) -> None:
    """Create the service account of namespace default, unless its controller is left out.

    No pod is admitted before it is there, and the controller that makes such accounts comes later.
    """
    account = Key("default", "default")
    if "controllers" in without or client.get("serviceaccounts", account):
        return
    metadata = {"name": account.name, "namespace": account.namespace}
    client.create("serviceaccounts", {"metadata": metadata})
