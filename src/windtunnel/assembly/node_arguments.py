"""What a node process is told on its command line when it is started."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from windtunnel.errors import UsageError
from windtunnel.nodes.kubelet.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeArguments:
    """Which node it is, and what its cluster has ready for it."""

    settings: Settings
    network: int
    """The network that its cluster has claimed for it; 0: it claims one itself."""
    certificates: Path | None
    """The folder of its certificates: ``kubelet-<name>.crt`` and the authority's."""


class _Arguments(argparse.ArgumentParser):
    """Refuses in one sentence instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def read_arguments(arguments: Sequence[str], environment: Mapping[str, str]) -> NodeArguments:
    """Read the arguments of ``windtunnel agent kubelet``; the environment may name the node.

    Raises:
        UsageError: an argument is none that a node knows.
    """
    parser = _Arguments(prog="windtunnel agent kubelet")
    parser.add_argument("--node-name", default=environment.get("NODE_NAME", "node-0"))
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--certificates", type=Path)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--api", default="127.0.0.1:6443")
    parser.add_argument("--network", type=int, default=0)
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--taint", action="append", default=[])
    parser.add_argument("--distribution", choices=("k3s", "plain"), default="k3s")
    given = parser.parse_args(list(arguments))
    host, _, port = str(given.api).rpartition(":")
    if not port.isdigit():
        parser.error(f"--api {given.api} is no HOST:PORT")
    settings = Settings(
        name=given.node_name,
        root=given.root,
        address=given.address,
        port=given.port,
        api_host=host,
        api_port=int(port),
        labels=dict(text.partition("=")[::2] for text in given.label),
        taints=tuple(given.taint),
        distribution=given.distribution,
    )
    return NodeArguments(settings=settings, network=given.network, certificates=given.certificates)
