"""Packages speak to each other through what they export, but for what is written here."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "windtunnel"

LIBRARIES = {
    "machinery": "each module is a namespace of its own: names.dns_label, quantity.parse",
    "kinds": "each module is a kind or a rule of kinds, named after it",
}
"""Packages of which every module is public."""

BY_NAME = {
    "apiserver.core": "the API itself; apiserver's exports are what a request is made of",
    "apiserver.edge": "asynchronous; a cluster in virtual time must not pay for it",
    "apiserver.inprocess": "the API without HTTP, for our own parts",
    "apiserver.mint": "a live cluster needs no seed",
    "apiserver.access.authentication": "static tokens, read when a file of them is given",
    "apiserver.access.tokens": "signing keys: a library for keys",
    "assembly.serve": "imports the whole house",
    "client.cache": "what controllers keep; a command keeps nothing",
    "client.connection": "how a server is reached",
    "client.event_series": "events of the events.k8s.io form",
    "client.events": "events of the core form",
    "client.http": "does I/O",
    "client.kubeconfig": "does I/O",
    "home.certificates": "a library for keys",
    "home.files": "writing files that are private",
    "nodes.orders": "imports the trees of played nodes",
    "nodes.played": "plays nodes",
    "parity.api": "a replay, imported when it is asked for",
    "parity.own_server": "starts a server",
    "parity.scheduler": "a replay, imported when it is asked for",
    "placement.arguments": "the arguments of rules, for who reads configurations",
    "placement.search": "a search over rules, for who places",
    "store.backend": "what a store needs of its disk",
    "store.memory": "one of two backends",
    "store.sqlite": "does I/O",
}
"""Modules that are imported by name, and why they are not among their package's exports."""


def imports() -> Iterator[tuple[str, str, str]]:
    """Every (importing file, module, name) that crosses from one package into another."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            root, _, module = node.module.partition(".")
            if root != "windtunnel" or module.split(".")[0] in ("", place.parts[0], "errors"):
                continue
            for name in node.names:
                yield str(place), module, name.name


def exported(package: str) -> list[str]:
    return getattr(importlib.import_module(f"windtunnel.{package}"), "__all__", [])


def test_what_is_imported_is_exported_or_written_down() -> None:
    past = []
    for place, module, name in imports():
        package = module.split(".")[0]
        if package in LIBRARIES or module in BY_NAME or f"{module}.{name}" in BY_NAME:
            continue
        if module != package or name not in exported(package):
            past.append(f"{place}: from windtunnel.{module} import {name}")

    assert past == []


def test_what_is_written_down_is_needed() -> None:
    used = {module for _, module, _ in imports()}
    used |= {f"{module}.{name}" for _, module, name in imports()}

    assert sorted(set(BY_NAME) - used) == []
