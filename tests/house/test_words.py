"""What never stands in the project: paths of one machine, words without meaning, stubs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FORBIDDEN = {
    "a path of somebody's machine": r"(?<![\w.])/(work|root|home/\w+)/",
    "an index address": r"https?://(pypi|files\.pythonhosted|proxy\.golang)",
    "work that was put off": r"\b(TODO|FIXME|XXX|HACK)\b",
    "a conflict that was not resolved": r"^(<{7}|>{7}) ",
}
ALLOWED = {"tests/house/test_words.py"}

MEANINGLESS = re.compile(
    r"^\s*class \w*(Manager|Handler|Helper|Util|Utils|Info|Impl)\b|^\s*class (Abstract|I[A-Z][a-z])"
)


def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file() and path.suffix not in {".gz", ".png"}]


@pytest.mark.parametrize("pattern", FORBIDDEN.values(), ids=FORBIDDEN)
def test_nowhere_stands(pattern: str) -> None:
    search = re.compile(pattern, re.MULTILINE)
    found = []
    for path in files():
        name = str(path.relative_to(ROOT))
        if name not in ALLOWED and search.search(path.read_text(errors="replace")):
            found.append(name)

    assert found == []


def test_no_class_has_a_name_without_meaning() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "src").rglob("*.py")
        for line in path.read_text().splitlines()
        if MEANINGLESS.search(line)
    ]

    assert found == []


def test_no_folder_has_a_name_without_meaning() -> None:
    empty = {"utils", "util", "common", "core", "helpers", "misc", "lib"}
    found = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*")
        if path.is_dir() and path.name in empty
    ]

    assert found == []


def test_every_module_says_why_it_exists() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if not path.read_text().lstrip().startswith('"""')
    ]

    assert silent == []
