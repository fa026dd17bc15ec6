"""The server under test: a cluster of its own, in memory, with nothing on it but the API."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from windtunnel.assembly.detach import detached, end
from windtunnel.assembly.settings import COMPACT_PATH, PARTS, Settings
from windtunnel.assembly.state import Folder, Process
from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.parity.api import USERS, Case, Replay
from windtunnel.parity.report import Report


def replay_on_own_server(cases: Iterable[Case]) -> Report:
    """Start a server, play the cases against it, and stop it."""
    with tempfile.TemporaryDirectory(prefix="windtunnel-") as name:
        root = Path(name)
        tokens = root / "tokens.csv"
        tokens.write_text(USERS)
        folder = Folder("conformance", root)
        folder.create()
        settings = Settings(
            name=folder.name,
            kubeconfig=root / "kubeconfig",
            ephemeral=True,
            without=frozenset(PARTS),
            token_file=tokens,
            home=root,
        )

        def run(ready: Callable[[Process], None]) -> None:
            # Imported in the child: the parent needs none of it.
            from windtunnel.assembly.serve import serve

            serve(settings, ready)

        process = detached(run, folder.log, bound=True)
        try:
            admin = HttpClient(kubeconfig.connection(folder.kubeconfig))
            return Replay(process.url, lambda: _compact(admin)).play(cases)
        finally:
            end(process)


def _compact(admin: HttpClient) -> None:
    admin.ask("POST", COMPACT_PATH)
