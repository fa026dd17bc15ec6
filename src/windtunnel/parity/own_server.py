"""The server under test: a cluster of its own, in memory, with nothing on it but the API."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from windtunnel.assembly import COMPACT_PATH, PARTS, Settings, start
from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.home import Folder
from windtunnel.parity.api import USERS, ApiReplay, Case
from windtunnel.parity.report import Report


def replay_on_own_server(cases: Iterable[Case]) -> Report:
    """Start a server, play the cases against it, and stop it."""
    with tempfile.TemporaryDirectory(prefix="windtunnel-") as name:
        root = Path(name)
        tokens = root / "tokens.csv"
        tokens.write_text(USERS)
        settings = Settings(
            name="conformance",
            kubeconfig=root / "kubeconfig",
            ephemeral=True,
            port=0,
            without=frozenset(PARTS),
            token_file=tokens,
            home=root,
        )
        process = start(settings, bound=True)
        try:
            admin = HttpClient(kubeconfig.connection(Folder(settings.name, root).kubeconfig))
            return ApiReplay(process.url, lambda: _compact(admin)).play(cases)
        finally:
            process.end()


def _compact(admin: HttpClient) -> None:
    admin.ask("POST", COMPACT_PATH)
