"""Keeps the process of the kubelet node running for as long as the cluster does.

The node lives in a process of its own, as it would on a machine of its own: what blocks there
blocks nobody else, and a kill of it is a reboot of that machine, from which it comes back by itself
with growing pauses. It never outlives the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from windtunnel.assembly.agent import PARENT
from windtunnel.assembly.settings import NODE
from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.devices import POOL_LABEL
from windtunnel.home.certificates import Keyring, provide_node
from windtunnel.home.files import write_private
from windtunnel.kernel import Loop, Ticket
from windtunnel.nodes.kubelet.network import claim_again
from windtunnel.telemetry import Log

POOL: Final = "default"
"""The pool it belongs to: the one that the operator's chart knows."""
BESIDE_PLAYED: Final = "windtunnel.dev/played-nodes=may-come"
"""The label by which the chart sees, before there are any, that nodes here may only be played."""
_KEPT: Final = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")

_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 10.0
_SETTLED_SECONDS: Final = 30.0
"""Who has lived so long starts with the first pause again."""
_PATIENCE_SECONDS: Final = 8.0
"""How long the node may take to end its containers; afterwards it is killed, and they with it."""


def node_process(folder: Path, keyring: Keyring, url: str, loop: Loop, log: Log) -> NodeProcess:
    """Return the process of a cluster's own node, not started yet.

    Args:
        folder: The node's; made if it is missing.
        keyring: The cluster's; the node gets certificates from it.
        url: Where the API server is.
        loop: Whose steps start the process.
        log: Told when it begins and ends.

    Raises:
        ClusterError: the machine has no network left for its pods.
        DataError: the node's certificates cannot be made.
        OSError: the folder cannot be written.
    """
    keys = provide_node(keyring, loop.clock.now(), NODE)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = Connection(
        url,
        ca=keyring.authority.read_bytes(),
        certificate=keys.client.read_bytes(),
        key=keys.client_key.read_bytes(),
    )
    # Here, so that nobody else has it while a killed node comes back.
    network = claim_again(folder / "network")
    credential = folder / "kubeconfig"
    write_private(credential, json.dumps(kubeconfig.entry(NODE, connection), indent=2).encode())
    command = [
        sys.executable, "-m", "windtunnel", "agent", "kubelet", "--node-name", NODE,
        "--root", str(folder / "root"), "--certificates", str(keyring.folder),
        "--api", urlsplit(url).netloc, "--label", f"{POOL_LABEL}={POOL}",
        "--label", BESIDE_PLAYED, "--network", str(network.number),
    ]  # fmt: skip
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment = kept | {"KUBECONFIG": str(credential), PARENT: str(os.getpid())}
    output = folder / "node.log"
    return NodeProcess(command, environment, output, loop, log, network.release)


class NodeProcess:
    """One process that is started again whenever it ends; a part like any other.

    Args:
        command: What to run.
        environment: All that it finds in its environment.
        output: The file that what it says is added to.
        loop: Whose steps start it.
        log: Told when it begins and ends.
        stopped: Called when it will not be started any more.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        output: Path,
        loop: Loop,
        log: Log,
        stopped: Callable[[], None] = lambda: None,
    ) -> None:
        self._command, self._environment, self._output = command, environment, output
        self._loop, self._log = loop, log
        self._process: subprocess.Popen[bytes] | None = None
        self._ticket: Ticket | None = None
        self._pause, self._began = _FIRST_PAUSE_SECONDS, 0.0
        self._stopped, self._when_stopped = False, stopped

    @property
    def pid(self) -> int:
        """Return the id of the process, or 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start the process soon."""
        self._ticket = self._loop.call_soon(self._begin)

    def stop(self) -> None:
        """End the process and wait until it has."""
        self._stopped = True
        if self._ticket is not None:
            self._ticket.cancel()
        process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._when_stopped()

    def _begin(self) -> None:
        self._began = self._loop.clock.now()
        try:
            with self._output.open("ab") as output:
                process = subprocess.Popen(
                    self._command,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    # Ctrl-C in a terminal is for the server, which ends the node in its turn.
                    start_new_session=True,
                )
        except OSError as error:
            self._again(f"cannot be started: {error}")
            return
        self._process = process
        self._log.info("node", "started", pid=process.pid)
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        self._loop.post(lambda: self._ended(code))

    def _ended(self, code: int) -> None:
        self._process = None
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        self._again(f"{how}; what it says is in {self._output}")

    def _again(self, why: str) -> None:
        if self._stopped:
            return
        if self._loop.clock.now() - self._began > _SETTLED_SECONDS:
            self._pause = _FIRST_PAUSE_SECONDS
        self._log.warning("node", "starts again", why=why, in_seconds=self._pause)
        self._ticket = self._loop.call_after(self._pause, self._begin)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)
