"""The text of ``/etc/hosts`` in a container: as a kubelet writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


_BEGIN: Final = "# Services, kept up to date by windtunnel."
_END: Final = "# End of services."


def hosts_text(address: str, names: Iterable[str], more: Iterable[str] = ()) -> str:
    """Return the file.

    Args:
        address: The container's own; empty on the host's network, whose names it has.
        names: Its own names.
        more: Further lines.
    """
    own = ["\t".join([address, *names])] if address else []
    return "\n".join([*_HEAD, *own, *more]) + "\n"


def with_services(text: str, lines: Sequence[str]) -> str:
    """Return a hosts file with a block of ``lines``, or without one where there are none.

    The block takes the place of an older one, else it comes behind what every file begins with:
    before the address of the pod as the API shows it, at which nothing answers on this machine.
    """
    before, begin, rest = text.partition(f"{_BEGIN}\n")
    _, end, after = rest.partition(f"{_END}\n")
    if not begin or not end:
        head = "\n".join(_HEAD) + "\n"
        before, after = (head, text.removeprefix(head)) if text.startswith(head) else (text, "")
    block = "".join(f"{line}\n" for line in (_BEGIN, *lines, _END)) if lines else ""
    return f"{before}{block}{after}"
