"""What the programs that make namespaces are told, and tell."""

from __future__ import annotations

import os
import py_compile
from pathlib import Path

import pytest

from windtunnel.nodes.kubelet.runtime.isolation import Told, compiled

TOLD = {
    b"": Told(),
    b"pid 12\0": Told(12),
    b'pid 12\0missing exec: "a b"\0': Told(12, missing='exec: "a b"'),
    b"pid 12\0missing x\0failed two\nlines: \0": Told(12, "x", "two\nlines: "),
    b"failed no such file: unshare": Told(failed="no such file: unshare"),
}


@pytest.mark.parametrize(("raw", "told"), TOLD.items())
def test_what_a_container_tells_of_its_first_moments(raw: bytes, told: Told) -> None:
    assert Told.read(raw) == told


def test_a_compiled_program_runs_only_in_the_place_of_its_own_source(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text("print(1)\n")
    assert compiled(source) == source

    made = py_compile.compile(
        str(source), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP
    )
    assert compiled(source) == Path(str(made))

    known = source.stat()
    source.write_text("print(22)\n")
    os.utime(source, (known.st_atime, known.st_mtime))
    assert compiled(source) == source
