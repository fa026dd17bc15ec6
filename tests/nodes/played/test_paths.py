from typing import Any

import pytest

from windtunnel.nodes.played.paths import compile_path

TREE = {
    "metadata": {"labels": {"a.b/c": "x"}, "owners": [{"kind": "Job"}, {"kind": "Node"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running", "n": 0},
}
PATHS: dict[str, list[Any]] = {
    "status.phase": ["Running"],
    "status.n": [0],
    "status.missing": [],
    "nothing.at.all": [],
    "metadata.labels[a.b/c]": ["x"],
    "metadata.labels[other]": [],
    "status.conditions[Ready].status": ["True"],
    "status.conditions[Other].status": [],
    "metadata.owners[*].kind": ["Job", "Node"],
    "status.phase[*]": [],
}


@pytest.mark.parametrize(("path", "want"), PATHS.items())
def test_what_a_path_finds(path: str, want: list[Any]) -> None:
    assert compile_path(path)(TREE) == want


@pytest.mark.parametrize("path", ["", ".", "a..b", "[a]", "a[", "a]b", "a[b"])
def test_nonsense_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        compile_path(path)
