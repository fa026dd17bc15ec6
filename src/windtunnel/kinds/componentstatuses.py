"""Component statuses: the deprecated answer to "are the other parts well?"."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import name_cell
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.tree import Tree


def _cells(tree: Tree, _: float) -> list[Any]:
    for condition in tree.get("conditions") or ():
        if condition.get("type") == "Healthy":
            state = "Healthy" if condition.get("status") == "True" else "Unhealthy"
            message, error = condition.get("message", ""), condition.get("error", "")
            return [name_cell(tree), state, message, error]
    return [name_cell(tree), "Unknown", "", ""]


DECLARATIONS: Final = {
    "componentstatuses": Declared(
        deprecated="v1 ComponentStatus is deprecated in v1.19+", rules=Rules(cells=_cells)
    )
}
