"""nvidia-smi in every shell there is here, and a topology server that it asks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from windtunnel.gpu import smi

Run = Callable[..., tuple[int, str, str]]

A100: dict[str, Any] = {
    "GpuMemory": 40960,
    "GpuProduct": "NVIDIA A100-SXM4-40GB",
    "DriverVersion": "550.163.01",
    "CudaVersion": "12.4",
    "Gpus": [
        {
            "ID": "GPU-1",
            "Status": {
                "AllocatedBy": {"Namespace": "ml", "Pod": "other", "Container": "c"},
                "PodGpuUsageStatus": {},
            },
        },
        {
            "ID": "GPU-2",
            "Status": {
                "AllocatedBy": {"Namespace": "ml", "Pod": "train-0", "Container": "c"},
                "PodGpuUsageStatus": {
                    "uid-1": {"Utilization": {"Min": 50, "Max": 50}, "FbUsed": 20480},
                },
            },
        },
    ],
    "MigStrategy": "mixed",
    "OtherDevices": None,
}
SHELLS = ["sh", "bash", "busybox"]


class Topology:
    """A topology server that always says the same."""

    def __init__(self) -> None:
        self.status, self.body = 200, json.dumps(A100)
        self.asked: list[str] = []
        self.turns = -1
        """How often it answers so, if not for ever."""
        topology = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                topology.asked.append(self.path)
                gone = len(topology.asked) > topology.turns >= 0
                self.send_response(404 if gone else topology.status)
                self.end_headers()
                self.wfile.write(topology.body.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def topology() -> Iterator[Topology]:
    made = Topology()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(params=SHELLS)
def run(request: pytest.FixtureRequest, topology: Topology, tmp_path: Path) -> Run:
    """Run the program under one shell; under busybox with nothing but its applets."""
    shell, path = request.param, "/usr/bin:/bin"
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"needs {shell}")
    command = [found]
    if shell == "busybox":
        command, path = [found, "sh"], str(tmp_path)
        for applet in ("sh", "awk", "cat", "date", "head", "tr", "wget", "sleep"):
            (tmp_path / applet).symlink_to(found)

    def call(*arguments: str, adopted: str = "", **environment: str) -> tuple[int, str, str]:
        """``adopted``: Python that runs ``command`` instead of us."""
        known = {"PATH": path, "NODE_NAME": "n1", "HOSTNAME": "train-0"}
        words = [*command, str(smi.PROGRAM), *arguments]
        if adopted:
            words = [sys.executable, "-uc", f"import subprocess; command = {words}; {adopted}"]
        done = subprocess.run(
            words,
            env=known | {"TOPOLOGY_SERVER_URL": topology.url} | environment,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return call
