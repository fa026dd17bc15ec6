"""Where a probe or a hook goes: host, port and path, as the spec names them.

What is told names the address that the API shows; who asks goes where it is served.
"""

from __future__ import annotations

from dataclasses import dataclass

from windtunnel.machinery.tree import Tree


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """One thing to fetch."""

    scheme: str
    host: str
    port: int
    path: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        """Return the address as messages show it."""
        path = self.path if self.path.startswith("/") else f"/{self.path}"
        return f"{self.scheme}://{self.host}:{self.port}{path}"


def port_number(action: Tree, container: Tree) -> int:
    """Return the port of an action, which may be named in the container's list.

    Raises:
        ValueError: the container has no port of this name.
    """
    port = action.get("port")
    if isinstance(port, int):
        return port
    if isinstance(port, str) and port.isdigit():
        return int(port)
    for each in container.get("ports") or ():
        if each.get("name") == port:
            return int(each["containerPort"])
    raise ValueError(f"couldn't find port: {port}")


def http_target(action: Tree, container: Tree, address: str) -> HttpTarget:
    """Return what an ``httpGet`` fetches."""
    return HttpTarget(
        str(action.get("scheme") or "HTTP").lower(),
        str(action.get("host") or address),
        port_number(action, container),
        str(action.get("path") or "/"),
        tuple((each["name"], each.get("value", "")) for each in action.get("httpHeaders") or ()),
    )
