"""The real kubectl and client library reach into containers, through our API server and kubelet.

The containers are plain processes of the test's own machine; everything between them and the
clients is the real thing.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.e2e.conftest import Home, Kubectl
from tests.nodes.kubelet.streams.stand_in import StandIn
from windtunnel.apiserver import Core
from windtunnel.apiserver.edge import Certificates, Server
from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient
from windtunnel.home.certificates import provide, provide_node
from windtunnel.kernel import WallClock
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.tree import Key
from windtunnel.nodes.kubelet.streams.api import Credentials, KubeletApi
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend

pytestmark = pytest.mark.real

NODE = "node-0"


@dataclass
class Joined:
    """An API server and the kubelet API of its only node."""

    runtime: StandIn
    kubelet: KubeletApi
    admin: HttpClient

    def pod(self, name: str, log: str | None = None) -> None:
        """Have a pod that runs, to the API as well as to the kubelet."""
        self.runtime.add(name, log=log)
        spec = {"nodeName": NODE, "containers": [{"name": "main", "image": "x", "stdin": True}]}
        metadata = {"name": name, "namespace": "default"}
        self.admin.create("pods", {"metadata": metadata, "spec": spec})
        ready = [{"type": "Ready", "status": "True"}]
        state = self.runtime.pods[-1]["status"]["containerStatuses"]
        status = {"phase": "Running", "conditions": ready, "containerStatuses": []}
        assert state
        self.admin.patch("pods", Key("default", name), {"status": status}, subresource="status")


@pytest.fixture
def joined(home: Home, tmp_path: Path) -> Iterator[Joined]:
    clock = WallClock()
    keyring = provide(tmp_path / "pki", clock.now(), "10.96.0.1")
    node = provide_node(keyring, clock.now(), NODE)
    store = Store(MemoryBackend(), clock)
    core = Core(store, Catalogue(builtin_kinds()), clock)
    loop = uvloop.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    crashes: list[Exception] = []

    async def serve() -> tuple[Server, int]:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        server = Server(core.handle, store, clock, crashed=crashes.append)
        _, port = await server.start(
            listener,
            Certificates(
                keyring.server,
                keyring.server_key,
                keyring.authority,
                kubelet_client=(keyring.kubelet_client, keyring.kubelet_client_key),
            ),
        )
        return server, port

    server, port = asyncio.run_coroutine_threadsafe(serve(), loop).result(10)

    def connection(certificate: Path, key: Path) -> Connection:
        return Connection(
            f"https://127.0.0.1:{port}",
            ca=keyring.authority.read_bytes(),
            certificate=certificate.read_bytes(),
            key=key.read_bytes(),
        )

    own = connection(keyring.admin, keyring.admin_key)
    kubeconfig.add_context(home.kubeconfig, "lone", own)
    admin = home.client_of(own)
    runtime: Any = StandIn(tmp_path)
    api = KubeletApi(
        runtime,
        lambda: runtime.pods,
        runtime.find,
        node=NODE,
        review=home.client_of(connection(node.client, node.client_key)),
        clock=clock,
        credentials=Credentials(node.serving, node.serving_key, keyring.authority),
        crashed=crashes.append,
    )
    kubelet_port = api.start("127.0.0.1")
    account = {"metadata": {"name": "default", "namespace": "default"}}
    admin.create("serviceaccounts", account)
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
        "declaredFeatures": ["ExtendWebSocketsToKubelet"],
    }
    admin.create("nodes", {"metadata": {"name": NODE}, "status": status})
    yield Joined(runtime, api, admin)
    api.stop()
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
    store.close()
    assert crashes == []


CODES = {
    "well": (("sh", "-c", "echo out; echo err >&2"), 0, "out\n", "err\n"),
    "with a code": (("sh", "-c", "exit 3"), 3, "", "command terminated with exit code 3\n"),
    "killed": (("sh", "-c", "kill -9 $$"), 137, "", "command terminated with exit code 137\n"),
    "not begun": (
        ("nosuchcmd",), 1, "",
        "error: Internal error occurred: Internal error occurred: error executing command in "
        "container: failed to exec in container: failed to start exec: OCI runtime exec failed: "
        'exec failed: unable to start container process: exec: "nosuchcmd": executable file not '
        "found in $PATH: unknown\n",
    ),
}  # fmt: skip


def run(home: Home, program: Path, *arguments: str, stdin: bytes = b"") -> Any:
    return subprocess.run(
        [str(program), *arguments],
        env=home.environment,
        cwd=home.path,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(("command", "code", "out", "err"), CODES.values(), ids=CODES)
def test_exec_ends_as_the_program_does(
    joined: Joined, home: Home, real_kubectl: Path,
    command: tuple[str, ...], code: int, out: str, err: str,
) -> None:  # fmt: skip
    joined.pod("p")

    done = run(home, real_kubectl, "exec", "p", "--", *command)

    assert (done.stdout.decode(), done.stderr.decode()) == (out, err)
    assert done.returncode == code


def test_exec_takes_input(joined: Joined, home: Home, real_kubectl: Path) -> None:
    joined.pod("p")
    big = bytes(range(256)) * 20_000

    done = run(home, real_kubectl, "exec", "-i", "p", "--", "sh", "-c", "cat; exit 5", stdin=big)

    assert (done.returncode, done.stdout == big) == (5, True)


def test_exec_without_websockets(joined: Joined, home: Home, real_kubectl: Path) -> None:
    joined.pod("p")
    older = home.environment | {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false"}

    done = subprocess.run(
        [str(real_kubectl), "exec", "-i", "p", "--", "sh", "-c", "cat; exit 5"],
        env=older, input=b"hi", capture_output=True, check=False, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (5, b"hi")


REFUSED = {
    "a container that is not there": (
        ("exec", "q", "--", "true"),
        'error: unable to upgrade connection: container not found ("main")\n',
    ),
    "a pod without a node": (
        ("exec", "d", "--", "true"),
        "error: unable to upgrade connection: pod d does not have a host assigned\n",
    ),
    "a wrong container": (
        ("exec", "q", "-c", "nope", "--", "true"),
        "error: container nope is not valid for pod q out of: main\n",
    ),
    "no earlier log": (
        ("logs", "p", "--previous"),
        'Error from server (BadRequest): previous terminated container "main" in pod "p" not '
        "found\n",
    ),
}


@pytest.mark.parametrize(("command", "err"), REFUSED.values(), ids=REFUSED)
def test_refusals_are_told_in_the_real_words(
    joined: Joined, kubectl: Kubectl, command: tuple[str, ...], err: str
) -> None:
    joined.pod("p", log="")
    joined.pod("q")
    found = joined.runtime.find("default", "q", "main")
    assert found is not None
    joined.runtime.end(found)
    spec = {"containers": [{"name": "main", "image": "x"}]}
    joined.admin.create("pods", {"metadata": {"name": "d", "namespace": "default"}, "spec": spec})

    assert kubectl(*command, code=1) == err


def test_a_dead_kubelet_is_told(joined: Joined, kubectl: Kubectl) -> None:
    joined.pod("p", log="")
    joined.kubelet.stop()

    said = kubectl("exec", "p", "--", "true", code=1)
    logs = kubectl("logs", "p", code=1)

    assert "error dialing backend: dial tcp 127.0.0.1:" in said
    assert logs.startswith('Error from server: Get "https://127.0.0.1:')
    assert logs.endswith("connect: connection refused\n")


def test_files_are_copied_both_ways(joined: Joined, home: Home, kubectl: Kubectl) -> None:
    joined.pod("p")
    (home.path / "here").write_bytes(b"x" * 1_000_000)
    there = home.path / "there"
    there.mkdir()

    kubectl("cp", "here", f"p:{there}/copy")
    kubectl("cp", f"p:{there}/copy", "back")

    assert (home.path / "back").read_bytes() == b"x" * 1_000_000


def test_logs_are_shown_and_followed(
    joined: Joined, home: Home, kubectl: Kubectl, real_kubectl: Path
) -> None:
    line = "2026-01-01T00:00:0{}.000000000Z stdout F line {}\n"
    joined.pod("p", log=line.format(1, 1) + line.format(2, 2))
    record = joined.runtime.find("default", "p", "main")
    assert record is not None

    assert kubectl("logs", "p", "--tail=1", "--timestamps") == (
        "2026-01-01T00:00:02.000000000Z line 2\n"
    )
    following = subprocess.Popen(
        [str(real_kubectl), "logs", "-f", "p"],
        env=home.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert following.stdout is not None
    assert following.stdout.readline() == "line 1\n"
    with record.log_path.open("a") as log:
        log.write(line.format(3, 3))
    assert [following.stdout.readline() for _ in range(2)] == ["line 2\n", "line 3\n"]
    joined.runtime.end(record)
    assert following.wait(10) == 0
    following.stdout.close()


def test_attaching(joined: Joined, home: Home, real_kubectl: Path) -> None:
    joined.pod("p")
    attached = subprocess.Popen(
        [str(real_kubectl), "attach", "-i", "p"],
        env=home.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert attached.stdin is not None
    assert attached.stdout is not None
    attached.stdin.write(b"hello\n")
    attached.stdin.flush()

    assert attached.stdout.readline() == b"hello\n"
    attached.stdin.close()
    assert attached.wait(10) == 0
    attached.stdout.close()


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_ports_are_forwarded(
    joined: Joined, home: Home, real_kubectl: Path, tmp_path: Path, websockets: str
) -> None:
    joined.pod("p")
    (tmp_path / "page").write_bytes(b"y" * 300_000)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    site = subprocess.Popen(
        ["python3", "-m", "http.server", "--bind", "127.0.0.1", str(port)],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    forward = subprocess.Popen(
        [str(real_kubectl), "port-forward", "pod/p", f":{port}"],
        env=home.environment | {"KUBECTL_PORT_FORWARD_WEBSOCKETS": websockets},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert forward.stdout is not None
        words = forward.stdout.readline()
        local = int(words.split(":")[1].split(" ")[0])
        _wait_for(port)
        for _ in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{local}/page", timeout=10) as page:
                assert page.read() == b"y" * 300_000
        site.kill()
        site.wait()
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{local}/page", timeout=10)
        assert forward.stderr is not None
        assert f"error forwarding port {port} to pod" in forward.stderr.readline()
    finally:
        for process in (site, forward):
            process.kill()
            process.communicate()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError("nobody listens")


def test_the_client_library_runs_programs(joined: Joined, home: Home) -> None:
    from kubernetes import client, config
    from kubernetes.stream import stream

    joined.pod("p")
    config.load_kube_config(str(home.kubeconfig))

    @contextmanager
    def begun(*command: str, stdin: bool) -> Iterator[Any]:
        run_in: Callable[..., Any] = client.CoreV1Api(ours).connect_get_namespaced_pod_exec
        begun = stream(
            run_in, "p", "default", command=list(command),
            stdin=stdin, stdout=True, stderr=True, tty=False, _preload_content=False,
        )  # fmt: skip
        yield begun
        # Its own close() leaves the socket open where the server was the first to close.
        begun.sock.shutdown()

    with client.ApiClient() as ours:
        with begun("echo", "hi", stdin=False) as told:
            told.run_forever(timeout=10)
            assert told.read_all() == "hi\n"
        with begun("sh", "-c", "read x; echo got $x; exit 4", stdin=True) as talk:
            talk.write_stdin("this\n")
            talk.run_forever(timeout=10)
            assert talk.read_stdout() == "got this\n"
            assert talk.returncode == 4


def test_the_node_is_seen_through_its_proxy(joined: Joined, kubectl: Kubectl) -> None:
    joined.pod("p")

    assert kubectl("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/healthz") == "ok"
    assert '"name":"p"' in kubectl("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/pods")
