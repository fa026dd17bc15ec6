"""Documents cannot lie: what they show is run, derived pages are compared, links exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import programs
from tests.house.test_packaging import load
from tests.kinds.answers import DIFFERENT
from tests.parity.test_scheduler import KNOWN

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if path.is_file()
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN = ("windtunnel ",)
"""How commands begin that are run; the others (make, export, activating) set the scene."""


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text()) if found == language]


def commands(page: Path) -> list[tuple[str, str]]:
    """Return the page's commands, each with what is shown to be printed."""
    found: list[tuple[str, str]] = []
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                command, shown = found[-1]
                found[-1] = (command, f"{shown}{line}\n")
    return [(command, shown) for command, shown in found if command.startswith(RUN)]


def pattern(shown: str) -> re.Pattern[str]:
    """Return a pattern in which ``...`` stands for anything, alone on a line for any lines."""
    text = re.escape(shown).replace("\\.\\.\\.\\\n", "(?:.*\n)?")
    return re.compile(text.replace(r"\.\.\.", ".*"), re.DOTALL)


@pytest.mark.real
@pytest.mark.parametrize(
    "page", [p for p in PAGES if commands(p)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_happens(page: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "WINDTUNNEL_HOME": str(tmp_path / "state"),
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "KUBECTL": str(programs.kubectl()),
    }
    for block in blocks(page, "yaml"):
        name = re.match(r"# file: (\S+)\n", block)
        if name:
            (tmp_path / name[1]).write_text(block)
    try:
        for command, shown in commands(page):
            done = subprocess.run(
                ["bash", "-c", command],
                env=environment,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
            if shown:
                assert pattern(shown).fullmatch(done.stdout), f"{command}:\n{done.stdout}"
    finally:
        for folder in (tmp_path / "state").glob("*"):
            stop = [sys.executable, "-m", "windtunnel", "down", "--name", folder.name]
            subprocess.run(stop, env=environment, check=False, capture_output=True)


def test_the_run_without_a_server_happens() -> None:
    (block,) = blocks(ROOT / "docs" / "decisions" / "0001-shape.md", "python")
    names: dict[str, Any] = {}

    exec(block, names)

    (pod,) = names["virtual"].client("user").list("pods")
    assert pod["status"]["phase"] == "Running"


def test_derived_pages_are_as_they_would_be_made_now() -> None:
    for path, text in load(ROOT / "docs" / "reference" / "make.py").pages().items():
        assert path.read_text() == text, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    broken = [
        target for target in targets if "://" not in target and not (page.parent / target).exists()
    ]

    assert broken == []


def test_every_setting_of_up_is_documented() -> None:
    text = (ROOT / "docs" / "reference" / "commands.md").read_text()

    for option in ("--name", "--data-dir", "--ephemeral", "--port", "--detach", "--kubeconfig",
                   "--nodes", "--without", "--token-auth-file"):  # fmt: skip
        assert option in text


def test_every_expected_failure_stands_on_the_page_of_differences() -> None:
    page = (ROOT / "docs" / "reference" / "differences.md").read_text()
    _, _, held = page.partition("## Held by strict expected failures")
    rows = set(re.findall(r"^\| (\w+) \| (.+) \|$", held, re.MULTILINE)) - {("part", "difference")}

    assert rows == {("scheduler", reason) for reason in KNOWN.values()} | {
        ("API", reason) for reason in DIFFERENT.values()
    }
