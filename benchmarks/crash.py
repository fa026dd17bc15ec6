"""Kill the server 50 times under 8 writers; see that nothing acknowledged is lost.

Each writer creates, changes and deletes its own ConfigMaps, knows what was acknowledged, and looks
after every restart whether its objects are in the acknowledged state (or in the one that was under
way). A watcher resumes from the last revision it has seen; at the end what it saw must be the
history that the server tells from the beginning: no gap, no repeat.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from windtunnel.kernel import Chance, WallClock

TOKEN = "crash-token"
PATH = "/api/v1/namespaces/default/configmaps"
CLOCK = WallClock()
START_SECONDS = 30.0


class Server:
    """One data folder and the process that serves it, killed and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.starts: list[float] = []
        self.process: subprocess.Popen[bytes] | None = None
        (home / "tokens.csv").write_text(f'{TOKEN},admin,1,"system:masters"\n')

    def start(self) -> None:
        began = CLOCK.now()
        command = [
            sys.executable, "-m", "windtunnel", "up", "--name", "crash",
            "--data-dir", str(self.home / "data"), "--port", str(self.port),
            "--kubeconfig", str(self.home / "kubeconfig"),
            "--token-auth-file", str(self.home / "tokens.csv"),
            "--without", "scheduler,controllers,nodes",
        ]  # fmt: skip
        environment = dict(os.environ, WINDTUNNEL_HOME=str(self.home))
        log = (self.home / "server.log").open("ab")
        self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        log.close()
        while not self.ready():
            if self.process.poll() is not None or CLOCK.now() - began > START_SECONDS:
                raise SystemExit((self.home / "server.log").read_text()[-2000:])
            threading.Event().wait(0.02)
        self.starts.append(CLOCK.now() - began)

    def ready(self) -> bool:
        try:
            return self.connect().ask("GET", "/api/v1/namespaces/default")[0] == 200
        except OSError:
            return False

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait()

    def connect(self) -> Client:
        return Client(self.port)


class Client:
    """One connection; everything that goes wrong on it is an OSError."""

    def __init__(self, port: int) -> None:
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=trust)

    def ask(self, method: str, path: str, tree: Any = None) -> tuple[int, Any]:
        try:
            response = self.open(method, path, tree)
            return response.status, json.loads(response.read())
        except (http.client.HTTPException, ValueError) as error:
            self._connection.close()
            raise ConnectionError(str(error)) from error

    def open(self, method: str, path: str, tree: Any = None) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        body = None if tree is None else json.dumps(tree)
        self._connection.request(method, path, body, headers)
        return self._connection.getresponse()


@dataclass
class Writer:
    """Writes without pause; ``known`` is what was acknowledged, ``under_way`` what may be."""

    number: int
    server: Server
    known: dict[str, str] = field(default_factory=dict)
    under_way: tuple[str, str | None] | None = None
    acknowledged: int = 0
    count: int = 0

    def write_until_cut(self) -> None:
        client = self.server.connect()
        try:
            while True:
                self.write(client)
        except OSError:
            return

    def write(self, client: Client) -> None:
        self.count += 1
        value = str(self.count)
        if self.count % 4 == 0 and self.known:
            name = min(self.known)
            self.send(client, "DELETE", f"{PATH}/{name}", None, name, None)
        elif self.count % 4 == 3 and self.known:
            name = max(self.known)
            self.send(client, "PUT", f"{PATH}/{name}", config_map(name, value), name, value)
        else:
            name = f"w{self.number}-{self.count:06d}"
            self.send(client, "POST", PATH, config_map(name, value), name, value)

    def send(
        self, client: Client, method: str, path: str, tree: Any, name: str, value: str | None
    ) -> None:
        self.under_way = (name, value)
        status, answer = client.ask(method, path, tree)
        if status not in (200, 201):
            raise SystemExit(f"{method} {path}: {answer}")
        self.settle(name, value)
        self.acknowledged += 1

    def settle(self, name: str, value: str | None) -> None:
        self.under_way = None
        if value is None:
            self.known.pop(name, None)
        else:
            self.known[name] = value

    def compare(self, found: dict[str, str]) -> list[str]:
        """Say what is lost or unasked for; what was under way may have happened or not."""
        mine = {name: value for name, value in found.items() if name.startswith(f"w{self.number}-")}
        if self.under_way is not None:
            name, value = self.under_way
            if mine.get(name) == value:
                self.settle(name, value)
        self.under_way = None
        return [
            f"{name}: acknowledged {self.known.get(name)}, found {mine.get(name)}"
            for name in sorted(self.known.keys() | mine.keys())
            if self.known.get(name) != mine.get(name)
        ]


class Watcher:
    """Follows all changes over any number of kills."""

    def __init__(self, server: Server, revision: str) -> None:
        self.server, self.revision = server, revision
        self.seen: list[tuple[str, str, str]] = []

    def follow_until_cut(self) -> None:
        try:
            self.follow(f"{PATH}?watch=1&resourceVersion={self.revision}&allowWatchBookmarks=1")
        except (OSError, http.client.HTTPException):
            return

    def follow(self, path: str) -> None:
        response = self.server.connect().open("GET", path)
        while line := response.readline():
            if not line.endswith(b"\n"):
                return
            event = json.loads(line)
            metadata = event["object"]["metadata"]
            if event["type"] == "ERROR":
                raise SystemExit(f"the watch was refused: {event['object']['message']}")
            if event["type"] != "BOOKMARK":
                self.seen.append((metadata["resourceVersion"], event["type"], metadata["name"]))
            self.revision = metadata["resourceVersion"]


def config_map(name: str, value: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"value": value, "filler": "x" * 200}}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def found_on(server: Server) -> dict[str, str]:
    _, answer = server.connect().ask("GET", PATH)
    return {
        item["metadata"]["name"]: item["data"]["value"]
        for item in answer["items"]
        if "value" in item.get("data", {})
    }


def round_of(server: Server, writers: list[Writer], watcher: Watcher, seconds: float) -> list[str]:
    """Write for a while, kill, start again; return what was lost."""
    threads = [threading.Thread(target=writer.write_until_cut) for writer in writers]
    threads.append(threading.Thread(target=watcher.follow_until_cut))
    for thread in threads:
        thread.start()
    threading.Event().wait(seconds)
    server.kill()
    for thread in threads:
        thread.join()
    server.start()
    found = found_on(server)
    return [problem for writer in writers for problem in writer.compare(found)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--writers", type=int, default=8)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    draws = Chance(chosen.seed).stream("crash")
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name))
        server.start()
        _, answer = server.connect().ask("GET", PATH)
        first = answer["metadata"]["resourceVersion"]
        writers = [Writer(number, server) for number in range(chosen.writers)]
        watcher = Watcher(server, first)
        lost: list[str] = []
        try:
            for _ in range(chosen.kills):
                lost += round_of(server, writers, watcher, float(draws.uniform(0.02, 0.8)))
            _, answer = server.connect().ask("GET", PATH)
            last = int(answer["metadata"]["resourceVersion"])
            watcher.follow(f"{PATH}?watch=1&resourceVersion={watcher.revision}&timeoutSeconds=1")
            history = Watcher(server, first)
            history.follow(f"{PATH}?watch=1&resourceVersion={first}&timeoutSeconds=2")
        finally:
            server.stop()
    return judge(chosen.kills, server, writers, lost, watcher.seen, history.seen, last)


def judge(
    kills: int,
    server: Server,
    writers: list[Writer],
    lost: list[str],
    seen: list[tuple[str, str, str]],
    history: list[tuple[str, str, str]],
    last: int,
) -> int:
    acknowledged = sum(writer.acknowledged for writer in writers)
    gaps = sorted(set(history) - set(seen))
    starts = sorted(server.starts)
    print(f"{kills} kills, {acknowledged} writes acknowledged, revision {last}; "
          f"start after a kill: median {starts[len(starts) // 2]:.2f} s")  # fmt: skip
    checks = {
        "nothing acknowledged is lost": not lost,
        "the watch has no gap": not gaps,
        "the watch has no repeat": len(seen) == len(set(seen)),
        "the watch is in order": [int(row[0]) for row in seen]
        == sorted(int(row[0]) for row in seen),
        "the watch saw nothing that is not in history": set(seen) <= set(history),
        "all acknowledged writes are in the watch": len(seen) >= acknowledged,
    }
    for what, met in checks.items():
        print(f"{'ok  ' if met else 'NOT '} {what}")
    for problem in [*lost[:10], *map(str, gaps[:10])]:
        print(f"     {problem}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
