"""Imports point downwards, packages export what they say, and nothing heavy is imported early."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import windtunnel
from windtunnel.cli.root import VERBS

ROOT = Path(__file__).resolve().parents[2]


def test_the_import_contracts_are_kept() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_every_verb_is_in_the_contract_that_keeps_verbs_apart() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (verbs,) = (each for each in contracts["contracts"] if each["name"].startswith("Verbs "))

    assert verbs["modules"] == [f"windtunnel.cli.{verb}" for verb in VERBS]


def packages() -> list[str]:
    found = pkgutil.walk_packages(windtunnel.__path__, "windtunnel.")
    return [module.name for module in found if module.ispkg]


@pytest.mark.parametrize("name", packages())
def test_a_package_says_what_it_is_for_and_exports_sorted_names_that_exist(name: str) -> None:
    package = importlib.import_module(name)
    exported = getattr(package, "__all__", [])

    assert package.__doc__
    assert [each for each in exported if not hasattr(package, each)] == []
    assert len(set(exported)) == len(exported)


SERVER_ONLY = ("asyncio", "uvicorn", "uvloop", "sqlite3", "numpy", "cryptography", "rich")

LIGHT = {
    "the command line": "import windtunnel.cli.root",
    "the ledger": "import windtunnel.cli.ledger",
    "an agent's client": "import windtunnel.client.http",
    "status": "import windtunnel.cli.status, windtunnel.cli.down, windtunnel.cli.kubectl",
    "who starts a cluster elsewhere": "import windtunnel.cli.up",
}


@pytest.mark.parametrize("statement", LIGHT.values(), ids=LIGHT)
def test_clients_do_not_pay_for_the_server(statement: str) -> None:
    check = f"{statement}; import sys; print([m for m in {SERVER_ONLY!r} if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
