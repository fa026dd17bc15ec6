"""Bodies that a kind may be sent: mostly of its shape, with something wrong anywhere in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

from windtunnel.machinery.schema import Structure
from windtunnel.machinery.tree import Tree

ANYTHING: Final[st.SearchStrategy[Any]] = st.sampled_from(
    (
        None, True, 0, -1, 5, 1.5, 1e300, 2**63, "", "x", "a/b", "a b", "ünï", "0x10", "5Gi",
        "50%", "IfNotPresent", "2026-01-01T00:00:00Z", [], [None], ["x"], [1], [[]], [{}], {},
        {"a": None}, {"a": 1}, {"a": "b"}, {"a": {"b": [{}]}}, {"$patch": "replace"},
    )
)  # fmt: skip
_TEXT: Final = st.sampled_from(
    ("", "x", "a", "b", "c", "v1", "Pod", "In", "Exists", "Always", "app/x", "10.0.0.1", "TCP")
)
_OF_TYPE: Final[dict[str, st.SearchStrategy[Any]]] = {
    "integer": st.sampled_from((0, 1, 5, -1, 80)),
    "number": st.sampled_from((0, 1.5, 5)),
    "boolean": st.booleans(),
    "quantity": st.sampled_from(("1", "5Gi", "100m", 1)),
    "int-or-string": st.sampled_from((1, "50%", "x")),
    "time": st.just("2026-01-01T00:00:00Z"),
    "micro-time": st.just("2026-01-01T00:00:00.000000Z"),
    "bytes": st.sampled_from(("YQ==", "", "ü")),
    "any": ANYTHING,
}
Draw = Callable[[st.SearchStrategy[Any]], Any]
_FEW: Final = st.integers(0, 2)
_PERCENT: Final = st.integers(0, 99)
_DEEPEST: Final = 6


def of_shape(draw: Draw, structure: Structure, *, wrong: int, depth: int = 0) -> Any:
    """Draw a value of a shape; each of its parts is wrong with a likelihood in percent."""
    if depth > _DEEPEST or draw(_PERCENT) < wrong:
        return draw(ANYTHING)
    deeper = depth + 1
    match structure.type:
        case "object" if structure.fields:
            chosen = draw(st.lists(st.sampled_from(list(structure.fields)), max_size=4))
            needed = [name for name in structure.required if name in structure.fields]
            return {
                name: of_shape(draw, structure.fields[name], wrong=wrong, depth=deeper)
                for name in dict.fromkeys([*chosen, *needed])
            }
        case "map" if structure.items is not None:
            items = structure.items
            return {
                draw(_TEXT): of_shape(draw, items, wrong=wrong, depth=deeper)
                for _ in range(draw(_FEW))
            }
        case "list" if structure.items is not None:
            items = structure.items
            return [of_shape(draw, items, wrong=wrong, depth=deeper) for _ in range(draw(_FEW))]
    return draw(_OF_TYPE.get(structure.type, _TEXT))


def json_patch(draw: Draw, tree: Any) -> list[Tree]:
    """Draw operations on places of a tree."""
    operations = st.sampled_from(("add", "replace", "remove", "copy", "move", "test"))
    return [
        {
            "op": draw(operations),
            "path": _place(draw, tree),
            "from": _place(draw, tree),
            "value": draw(ANYTHING),
        }
        for _ in range(draw(_FEW) + 1)
    ]


def _place(draw: Draw, tree: Any) -> str:
    path = ""
    while isinstance(tree, (dict, list)) and tree and draw(_PERCENT) < 80:
        steps = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        step = draw(st.sampled_from(steps))
        path += f"/{str(step).replace('~', '~0').replace('/', '~1')}"
        tree = tree[step]
    return f"{path}{draw(st.sampled_from(('', '', '', '/x', '/-')))}"
