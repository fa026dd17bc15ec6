"""What is written is used by the project itself: a name that only tests read is dead code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "windtunnel"

CALLED_BY_OTHERS = {
    "do_GET": "http.server",
    "log_message": "http.server",
    "on_url": "httptools",
    "on_header": "httptools",
    "on_body": "httptools",
    "ignore_aliases": "PyYAML",
    "list_commands": "click",
    "get_command": "click",
    "format_commands": "click",
    "list_": "click, as nodes list",
}
"""Names that are read elsewhere, and by whom."""
BY_PREFIX = {"_play_": "steps of recorded scenarios, which name them"}


@cache
def trees(folder: Path) -> dict[str, ast.Module]:
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text())
        for path in sorted(folder.rglob("*.py"))
        if not path.stem.endswith(("_pb2", "_pb2_grpc"))
    }


@cache
def read() -> frozenset[str]:
    """Every name that is read, imported, or written out as text (``getattr``, exports)."""
    found: set[str] = set()
    for folder in (SOURCE, ROOT / "charts", ROOT / "benchmarks"):
        for tree in trees(folder).values():
            for node in ast.walk(tree):
                match node:
                    case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Name(name, ast.Load()):
                        found.add(name)
                    case ast.Constant(value=str(name)) | ast.alias(name=name):
                        found.add(name)
    return frozenset(found)


def test_every_function_class_and_constant_is_used() -> None:
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    known = read() | set(CALLED_BY_OTHERS)
    unused = []
    for path, tree in trees(SOURCE).items():
        names = [node.name for node in ast.walk(tree) if isinstance(node, named)]
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                    names.append(name)
        unused += [
            f"{path}: {name}"
            for name in names
            if name not in known and not name.startswith(("__", *BY_PREFIX))
        ]

    assert unused == []


def test_what_others_call_exists_and_is_not_called_by_us() -> None:
    assert sorted(set(CALLED_BY_OTHERS) & read()) == []
