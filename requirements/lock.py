"""Compile the locked requirements: one file for use, one for development.

Both hold hashes for every platform and for Python 3.11 to 3.13, and name no index. The header
carries a digest of what they were made from, so that a test can say offline when they are stale.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {"use.txt": [], "dev.txt": ["--extra", "dev"]}


def digest() -> str:
    """Return a digest of everything that decides what is locked."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {
        "python": project["requires-python"],
        "use": project["dependencies"],
        "dev": project["optional-dependencies"]["dev"],
        "build": (ROOT / "requirements" / "build.in").read_text(),
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def main() -> int:
    """Write both files."""
    for name, extra in FILES.items():
        command = [
            sys.executable, "-m", "uv", "pip", "compile",
            "pyproject.toml", "requirements/build.in", *extra,
            "--universal", "--generate-hashes", "--python-version", "3.11",
            "--no-header", "--no-emit-index-url", "--no-emit-find-links", "--no-annotate",
            "--quiet",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(done.stderr)
            return done.returncode
        body = re.sub(r"(?m)^--(index-url|extra-index-url|find-links).*\n", "", done.stdout)
        header = f"# Made by `make lock`; do not edit.\n# made from: {digest()}\n"
        (ROOT / "requirements" / name).write_text(header + body)
    return 0


if __name__ == "__main__":
    sys.exit(main())
