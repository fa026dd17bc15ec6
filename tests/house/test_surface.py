"""Packages speak to each other through what they export, but for what is written here."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "windtunnel"

LIBRARIES = {
    "wire": "each module is a protocol: wire.deviceplugin_pb2",
    "machinery": "each module is a namespace of its own: names.dns_label, quantity.parse",
    "kinds": "each module is a kind or a rule of kinds, named after it",
}
"""Packages of which every module is public."""

BY_NAME = {
    "apiserver.edge": "asynchronous; a cluster in virtual time must not pay for it",
    "assembly.agent": "must not pay for what a cluster needs",
    "assembly.components": "must not pay for what a cluster needs",
    "assembly.leavings": "must not pay for what a cluster needs",
    "assembly.node": "a node that runs containers; imports gRPC",
    "assembly.serve": "imports the whole house",
    "client.cache": "what controllers keep; a command keeps nothing",
    "client.connection": "how a server is reached",
    "client.event_series": "events of the events.k8s.io form",
    "client.events": "events of the core form",
    "client.farewell": "does I/O",
    "client.http": "does I/O",
    "client.incluster": "does I/O",
    "client.kubeconfig": "does I/O",
    "client.proven": "does I/O",
    "gpu.chart.installation": "a part of the server: installs the operator",
    "gpu.compute_domains": "a part of the operator: an agent pays for one of them",
    "gpu.device_plugin": "speaks gRPC; other agents must not pay for it",
    "gpu.exporter": "serves HTTP; other agents must not pay for it",
    "gpu.kwok_compute_domain": "a part of the operator: an agent pays for one of them",
    "gpu.kwok_device_plugin": "a part of the operator, or of a cluster without one",
    "gpu.kwok_dra_plugin": "a part of the operator: an agent pays for one of them",
    "gpu.mig_faker": "a part of the operator: an agent pays for one of them",
    "gpu.smi": "a program of its own",
    "gpu.status_updater": "a part of the operator: an agent pays for one of them",
    "gpu.topology_server": "a part of the operator: an agent pays for one of them",
    "home.certificates": "a library for keys",
    "home.files": "writing files that are private",
    "nodes.kubelet.devices": "its checkpoint is compared with the real one's",
    "nodes.kubelet.devices.counts": "what a node process is made of",
    "nodes.kubelet.devices.devices": "what a node process is made of",
    "nodes.kubelet.kubelet": "what a node process is made of",
    "nodes.kubelet.network": "what a node process is made of",
    "nodes.kubelet.node.machine": "what a node process is made of",
    "nodes.kubelet.outside": "what a node process is made of",
    "nodes.kubelet.runtime.engine": "what a node process is made of",
    "nodes.kubelet.runtime.protocol": "what runtimes are asked",
    "nodes.kubelet.runtime.registries": "what a replay's registries hold",
    "nodes.kubelet.sandboxes": "what a node process is made of",
    "nodes.kubelet.services": "what a node process is made of",
    "nodes.kubelet.settings": "what a node process is made of",
    "nodes.kubelet.streams.api": "serves HTTP on a thread of its own",
    "nodes.kubelet.volumes.places": "what a node process is made of",
    "nodes.kubelet.volumes.sources": "what a node process is made of",
    "nodes.kubelet.volumes.volumes": "what a node process is made of",
    "nodes.orders": "imports the trees of played nodes",
    "nodes.played": "plays nodes",
    "parity.api": "a replay, imported when it is asked for",
    "parity.kubelet.replay": "a replay, imported when it is asked for",
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


def test_what_is_exported_is_not_taken_from_its_module() -> None:
    past = [
        f"{place}: from windtunnel.{module} import {name}"
        for place, module, name in imports()
        if module.split(".")[0] not in LIBRARIES
        and module != module.split(".")[0]
        and name in exported(module.split(".")[0])
    ]

    assert past == []


def test_every_export_is_there() -> None:
    for path in sorted(SOURCE.glob("*/__init__.py")):
        package = importlib.import_module(f"windtunnel.{path.parent.name}")
        for name in exported(path.parent.name):
            assert hasattr(package, name), f"{path.parent.name} has no {name}"


def test_a_request_costs_neither_the_core_nor_a_library_for_keys() -> None:
    heavy = ("windtunnel.apiserver.core", "cryptography")
    code = (
        "import sys; from windtunnel.apiserver import Request;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
