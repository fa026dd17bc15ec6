"""What a kubelet knows of devices: what is offered, who stands behind it, who holds what.

It is kept in the checkpoint, which is written anew at each change and read at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.devices import checkpoint
from windtunnel.nodes.kubelet.devices.holdings import Holdings
from windtunnel.nodes.kubelet.devices.inventory import Inventory
from windtunnel.nodes.kubelet.devices.link import NO_WISHES, PluginLink, PluginOptions
from windtunnel.nodes.kubelet.devices.selection import Unavailable

Active = Callable[[], list[Tree] | None]
"""The pods that are neither over nor rejected; None: not known yet."""


@dataclass(slots=True)
class Endpoint:
    """Who stands behind a resource; without a link nobody has since the kubelet started."""

    link: PluginLink | None = None
    options: PluginOptions = NO_WISHES
    stopped: bool = False

    def line(self) -> PluginLink:
        """Return the line to the plugin.

        Raises:
            Unavailable: there is none.
        """
        if self.link is None or self.stopped:
            raise Unavailable(f"endpoint {self.link} has been stopped")
        return self.link


class Knowledge:
    """All of it; lives on the loop's thread."""

    def __init__(self, loop: Loop, folder: Path, active: Active) -> None:
        """Know nothing yet.

        Args:
            loop: Whose clock and reports are used.
            folder: Where the checkpoint is.
            active: Whose holdings are kept.
        """
        self._loop, self._active = loop, active
        self._path = folder / checkpoint.NAME
        self.inventory, self.holdings = Inventory(), Holdings()
        self.endpoints: dict[str, Endpoint] = {}
        self.fresh = True
        """No checkpoint was there at the start: this node is a new one."""

    def offers(self, resource: str) -> bool:
        """Whether the resource is one of plugins: offered, or held by somebody."""
        return self.inventory.offers(resource) or resource in self.holdings.resources()

    def endpoint(self, resource: str) -> Endpoint:
        """Return who stands behind a resource, or stood until a while ago.

        Raises:
            Unavailable: nobody has for too long.
        """
        endpoint = self.endpoints.get(resource)
        if endpoint is None or self.inventory.expired(resource, self._loop.clock.now()):
            raise Unavailable(f"endpoint not found in cache for a registered resource: {resource}")
        return endpoint

    def active_pods(self) -> list[Tree]:
        """Return the pods that hold what they were given; none where that is not known yet."""
        return self._active() or []

    def collect(self, admitting: str = "") -> None:
        """Drop what pods hold that are no longer active; one that is being admitted is.

        The checkpoint is not written for it: it says so after the next change that somebody made.
        """
        active = self._active()
        if active is not None:
            uids = {dig(pod, "metadata", "uid") for pod in active}
            self.holdings.keep(uids | {admitting})

    def restore(self) -> None:
        """Know what the checkpoint knows, and nothing else."""
        self.inventory, self.holdings = Inventory(), Holdings()
        self.endpoints = {}
        self.fresh = not self._path.exists()
        if self.fresh:
            return
        try:
            held, resources = checkpoint.read(self._path.read_bytes())
        except ValueError as error:
            self._loop.report("devices", str(self._path), error)
            return
        for uid, container, resource, holding in held:
            self.holdings.put(uid, container, resource, holding)
        self.inventory.restore(resources, self._loop.clock.now())
        self.endpoints = {resource: Endpoint(stopped=True) for resource in resources}

    def write(self) -> None:
        """Write the checkpoint; where that fails, it is said and work goes on."""
        draft = self._path.with_suffix(".tmp")
        try:
            draft.write_bytes(checkpoint.text_of(self.holdings, self.inventory.registered()))
            draft.replace(self._path)
        except OSError as error:
            self._loop.report("devices", str(self._path), error)
