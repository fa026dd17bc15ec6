"""A fresh machine has python3, python3-venv, make and git: what it is handed must be enough."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["use.txt", "dev.txt"])
def test_the_lock_was_made_from_what_is_asked_for_now(name: str) -> None:
    digest = load(ROOT / "requirements" / "lock.py").digest()
    head = (ROOT / "requirements" / name).read_text().splitlines()[1]

    assert head == f"# made from: {digest}", "run `make lock`"


@pytest.mark.parametrize("name", ["use.txt", "dev.txt"])
def test_the_lock_has_hashes_and_names_no_index(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    pins = re.findall(r"(?m)^[a-z0-9][\w.-]*==\S+.*$", text)

    assert len(pins) > 5
    assert all(pin.endswith("\\") for pin in pins), "a pin without hashes"
    assert "index" not in text
    assert "://" not in text


def test_use_locks_the_same_versions_as_development() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "requirements" / name).read_text()
        return set(re.findall(r"(?m)^([a-z0-9][\w.-]*==[^ \\]+)", text))

    assert pins("use.txt") <= pins("dev.txt")


def test_the_makefile_has_at_most_twelve_targets() -> None:
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"(?m)^\.PHONY: (.*)$", text)

    assert phony is not None
    targets = phony[1].split()
    assert len(targets) <= 12
    assert all(re.search(rf"(?m)^{target}:", text) for target in targets)


def test_every_folder_with_data_is_packaged() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["windtunnel"]
    package = ROOT / "src" / "windtunnel"
    covered = {path for pattern in patterns for path in package.glob(pattern)}
    code = {".py", ".pyc", ".pyi", ".proto"}
    data = {path for path in package.rglob("*") if path.is_file() and path.suffix not in code}

    assert sorted(str(path.relative_to(package)) for path in data - covered) == []


def test_version_and_changelog_agree() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    assert load(ROOT / "src" / "windtunnel" / "__init__.py").__version__ == version
