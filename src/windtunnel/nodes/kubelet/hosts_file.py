"""The text of ``/etc/hosts`` in a container: as a kubelet writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_HEAD: Final = (
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    "fe00::0\tip6-localnet",
    "fe00::0\tip6-mcastprefix",
    "fe00::1\tip6-allnodes",
    "fe00::2\tip6-allrouters",
)


def hosts_text(address: str, names: Iterable[str], more: Iterable[str] = ()) -> str:
    """Return the file.

    Args:
        address: The container's own; empty on the host's network, whose names it has.
        names: Its own names.
        more: Further lines.
    """
    own = ["\t".join([address, *names])] if address else []
    return "\n".join([*_HEAD, *own, *more]) + "\n"
