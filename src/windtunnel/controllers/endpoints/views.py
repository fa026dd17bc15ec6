"""What controllers see of services, Endpoints and endpoint slices."""

from __future__ import annotations

from typing import Any

import msgspec

from windtunnel.controllers.views import Metadata, View


class ServicePort(View, frozen=True):
    """One port of a service, and where it leads."""

    name: str = ""
    protocol: str = "TCP"
    port: int = 0
    target_port: int | str | None = None
    app_protocol: str | None = None


class ServiceSpec(View, frozen=True):
    """What a service selects."""

    type: str = "ClusterIP"
    selector: dict[str, str] | None = None
    ports: tuple[ServicePort, ...] = ()
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ip_families: tuple[str, ...] = msgspec.field(default=(), name="ipFamilies")
    publish_not_ready_addresses: bool = False


class ServiceView(View, frozen=True):
    """A service."""

    metadata: Metadata
    spec: ServiceSpec = ServiceSpec()

    @property
    def selects(self) -> bool:
        """Whether its endpoints follow from pods."""
        return bool(self.spec.selector) and self.spec.type != "ExternalName"

    @property
    def headless(self) -> bool:
        """Whether it has no address of its own."""
        return self.spec.cluster_ip in ("", "None")


class EndpointsView(View, frozen=True):
    """An Endpoints object."""

    metadata: Metadata
    subsets: tuple[dict[str, Any], ...] = ()


class SliceView(View, frozen=True):
    """An endpoint slice."""

    metadata: Metadata
    address_type: str = ""
    endpoints: tuple[dict[str, Any], ...] | None = None
    ports: tuple[dict[str, Any], ...] | None = None
