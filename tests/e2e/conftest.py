"""Clusters for tests with real programs: each in a process and a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e import programs
from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient
from windtunnel.home import Folder, Process

HEEDING = ("env", "--default-signal=INT,HUP")
"""Starts a program that heeds Ctrl-C and a closed terminal, even if the tests do not."""


@dataclass
class Home:
    """One user's home: clusters, kubeconfig, environment."""

    path: Path
    clients: list[HttpClient] = field(default_factory=list)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def kubeconfig(self) -> Path:
        return self.path / "kubeconfig"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return kept | {
            "HOME": str(self.path),
            "WINDTUNNEL_HOME": str(self.path / "state"),
            "KUBECONFIG": str(self.kubeconfig),
        }

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run windtunnel to its end, whatever comes of it."""
        return subprocess.run(
            [sys.executable, "-m", "windtunnel", *arguments],
            env=self.environment | environment,
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start windtunnel and leave it running; with the test it is killed at the latest."""
        self.started.append(
            subprocess.Popen(
                [*HEEDING, sys.executable, "-m", "windtunnel", *arguments],
                env=self.environment,
                cwd=self.path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return self.started[-1]

    def folder(self, name: str = "default") -> Folder:
        return Folder(name, self.path / "state")

    def process(self, name: str = "default") -> Process:
        process = self.folder(name).process()
        assert process is not None
        return process

    def client(self, name: str = "default") -> HttpClient:
        return self.client_of(kubeconfig.connection(self.folder(name).kubeconfig))

    def client_of(self, connection: Connection) -> HttpClient:
        """Return a client that is closed with the test."""
        self.clients.append(HttpClient(connection))
        return self.clients[-1]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A fresh home; whatever cluster is left running in it is stopped."""
    home = Home(tmp_path)
    (tmp_path / "state").mkdir()
    yield home
    for client in home.clients:
        client.close()
    for process in home.started:
        process.kill()
        process.communicate()
    for folder in (tmp_path / "state").iterdir():
        home.run("down", "--name", folder.name)


BARE = ("--without", "kubelet")
"""No node that runs containers: what a test does not look at need not be started."""


@pytest.fixture
def up(home: Home) -> Callable[..., Home]:
    """Start a cluster in the home, and return the home."""

    def start(*arguments: str, kubelet: bool = False) -> Home:
        done = home.run("up", "--detach", *(() if kubelet else BARE), *arguments)
        assert done.returncode == 0, done.stderr
        return home

    return start


@pytest.fixture(scope="session")
def real_kubectl() -> Path:
    """The real kubectl 1.36."""
    return programs.kubectl()


Kubectl = Callable[..., str]
Helm = Callable[..., str]


@pytest.fixture
def kubectl(home: Home, real_kubectl: Path) -> Kubectl:
    """Run the real kubectl on the home's current context; returns what it prints."""
    return _runner(home, real_kubectl)


@pytest.fixture
def helm(home: Home) -> Helm:
    """Run the real helm on the home's current context; returns what it prints."""
    return _runner(home, programs.helm())


def _runner(home: Home, program: Path) -> Callable[..., str]:
    def run(*arguments: str, stdin: str = "", code: int = 0) -> str:
        done = subprocess.run(
            [str(program), *arguments],
            env=home.environment,
            cwd=home.path,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout if code == 0 else done.stderr

    return run


def as_json(text: str) -> dict[str, object]:
    """Read what a command has printed."""
    tree: dict[str, object] = json.loads(text)
    return tree
