from __future__ import annotations

import pytest

from windtunnel.kinds.pod.paths import descending_path, unreserved_path

CASES = {
    "a/b": ([], []),
    "": ([], []),
    "/a": (["must be a relative path"], ["must be a relative path"]),
    "a/../b": (["must not contain '..'"], ["must not contain '..'"]),
    "..data": ([], ["must not start with '..'"]),
    "a..b": ([], []),
}


@pytest.mark.parametrize(("path", "want"), CASES.items())
def test_a_path_stays_below_where_it_starts(path: str, want: tuple[list[str], list[str]]) -> None:
    said = [
        [violation.message.rpartition(": ")[2] for violation in rule(path, "f")]
        for rule in (descending_path, unreserved_path)
    ]

    assert said == list(want)
