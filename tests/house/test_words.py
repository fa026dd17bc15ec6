"""What never stands in the project: paths of one machine, words without meaning, stubs."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
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
    r"(^|_)(managers?|handlers?|helpers?|utils?|info|data|impl|misc|stuff)(_|$)"
)
"""In names of folders, modules, classes and functions; in those of classes as in ``PodManager``."""
BORDER = {
    "apiserver/edge/protocol.py: data_received": "asyncio calls it so",
    "telemetry/log.py: info": "a level of logs everywhere",
    "errors.py: DataError": "what a cluster keeps is its data, as in --data-dir",
    "home/folder.py: default_data": "the folder of --data-dir",
    "home/folder.py: remember_data": "the folder of --data-dir",
    "apiserver/forms/options.py: _manager_violations": "the field manager of Kubernetes",
    "apiserver/verbs/ownership.py: default_manager": "the field manager of Kubernetes",
}
"""Names in which such a word is somebody else's, and means something."""

WIRE = {"views", "pod_wire"}
"""Modules of shapes that are decoded, which bear the names that Kubernetes gives them."""
SPELLED_ALIKE = {"WebSocket", "ReplicaSets"}
"""Classes that bear the name of something a sentence may well begin with."""
HOMONYMS = {
    "Settings": "of the part in whose room it stands",
    "Plan": "what one controller decides; it never leaves that controller",
    "Tally": "counts of one room, never seen in the other",
    "Subject": "of a role binding in the API server, of an event in the client",
    "Gate": "who may pass: requests at the edge, pods before the search",
    "Ends": "of a connection: what is read from and what is written to, wherever two are joined",
    "Container": "of a node's runtime: a process; for placement: what one asks for",
    "ContainerState": "of a node's runtime: created, runs, exited; for controllers: as it is told",
    "Demand": "of a pod on nodes; of those who call pods on the GPUs of these",
    "PodView": "what one room reads of a pod",
    "Taint": "what one room reads of a node's taint",
    "Toleration": "what one room reads of a pod's toleration",
}
"""Public classes and aliases of one name in two rooms, and why nobody takes one for the other."""


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


@cache
def written() -> list[Path]:
    """Every module but those that ``wire.make`` generates."""
    return sorted(
        path
        for path in (ROOT / "src" / "windtunnel").rglob("*.py")
        if not path.stem.endswith(("_pb2", "_pb2_grpc"))
    )


@cache
def modules() -> list[tuple[str, ast.Module]]:
    source = ROOT / "src" / "windtunnel"
    return [(str(path.relative_to(source)), ast.parse(path.read_text())) for path in written()]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@cache
def named() -> list[str]:
    """Every name that was given: ``path`` for modules and folders, ``path: name`` for the rest."""
    given = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        name
        for path, tree in modules()
        for name in (
            path,
            *(f"{path}: {node.name}" for node in ast.walk(tree) if isinstance(node, given)),
        )
    ]


def test_no_name_is_without_meaning() -> None:
    found = []
    for name in named():
        path, _, inside = name.partition(": ")
        words = [snake(inside)] if inside else path.removesuffix(".py").split("/")
        if any(MEANINGLESS.search(word) for word in words) and name not in BORDER:
            found.append(name)

    assert found == []
    assert sorted(set(BORDER) - set(named())) == []


def types_of(tree: ast.Module) -> list[str]:
    """Public classes, and aliases of types: names in capitals and small letters."""
    names = []
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                names.append(name)
            case ast.Assign(value=ast.Call(func=ast.Name("TypeVar"))):
                pass
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                names.append(name)
    return [name for name in names if re.fullmatch(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*", name)]


def test_one_word_has_one_meaning() -> None:
    homes: dict[str, set[str]] = {}
    for path, tree in modules():
        for name in types_of(tree):
            homes.setdefault(name, set()).add(path)
    found = {
        name: sorted(places)
        for name, places in homes.items()
        if len(places) > 1 and {Path(place).stem for place in places} - WIRE
    }

    assert {name: found[name] for name in set(found) - set(HOMONYMS)} == {}
    assert sorted(set(HOMONYMS) - set(found)) == []


def damaged(docstring: str, classes: set[str]) -> bool:
    """Whether a sentence begins with a class where a word was: it was renamed along with it."""
    first = re.match(r"([A-Z][a-z]+[A-Z]\w*)\s+[a-z]", docstring)
    return first is not None and first[1] in classes - SPELLED_ALIKE


def test_no_sentence_was_renamed_along_with_a_class() -> None:
    classes = {
        node.name
        for _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = [
        f"{path}: {text}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if damaged(text := str(node.value.value), classes)
    ]

    assert found == []


def stands(reference: str) -> bool:
    """Whether ``kinds.rules.metadata`` is a module, or its last word a name within one."""
    folder, *rest = (ROOT / "src" / "windtunnel", *reference.split("."))
    while rest and (folder / rest[0]).is_dir():
        folder, *rest = (folder / rest[0], *rest[1:])
    if not rest:
        return True
    module = folder / f"{rest[0]}.py"
    if module.is_file():
        return len(rest) == 1 or re.search(rf"\b{rest[1]}\b", module.read_text()) is not None
    return re.search(rf"\b{rest[0]}\b", (folder / "__init__.py").read_text()) is not None


def test_what_a_docstring_points_at_exists() -> None:
    source = ROOT / "src" / "windtunnel"
    packages = "|".join(sorted(path.parent.name for path in source.glob("*/__init__.py")))
    reference = re.compile(rf"``(?:windtunnel\.)?((?:{packages})(?:\.\w+)+)``")
    found = [
        f"{path.relative_to(ROOT)}: {match[1]}"
        for path in sorted(source.rglob("*.py"))
        for match in reference.finditer(path.read_text())
        if not stands(match[1])
    ]

    assert found == []


def test_no_comment_is_a_banner() -> None:
    rule, title = r"^\s*# ?[-=*#~]{3,}", r"^\s*# (The )?[A-Z][a-z]+\.?\s*$"
    heading = r"(?<=\n\n) *# [A-Z][^\n]*\n(?=\n)"
    banner = re.compile(f"{rule}|{title}|{heading}", re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}: {match[0].strip()}"
        for path in written()
        for match in banner.finditer(path.read_text())
    ]

    assert found == []


def test_every_module_says_why_it_exists() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in written()
        if not path.read_text().lstrip().startswith('"""')
    ]

    assert silent == []
