"""One node of a type graph, and the facts that patches, apply, defaults and validation need.

A node is made once and shared by all objects. ``fields`` and ``items`` are reached through a
``Link`` when they belong to a named model, so that models may contain themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


class _Missing:
    """Stands for no value where None is a value."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()
"""No default."""


class Structure:
    """One node of a type graph. Never changed once it is made.

    ``type`` is one of object, map, list, string, integer, number, boolean, any, quantity,
    int-or-string, time, micro-time, bytes.
    """

    __slots__ = (
        "_fields",
        "_items",
        "compiled",
        "default",
        "embedded_resource",
        "go_name",
        "go_step",
        "go_type",
        "list_type",
        "map_keys",
        "map_type",
        "merge_key",
        "model",
        "omit_empty",
        "patch_strategies",
        "pointer",
        "preserve_unknown",
        "required",
        "schema",
        "type",
    )

    def __init__(
        self,
        kind: str,
        *,
        fields: Mapping[str, Structure] | Callable[[], Mapping[str, Structure]] | None = None,
        items: Structure | Callable[[], Structure] | None = None,
        list_type: str = "atomic",
        map_keys: tuple[str, ...] = (),
        map_type: str = "granular",
        merge_key: str = "",
        patch_strategies: frozenset[str] = frozenset(),
        default: Any = MISSING,
        required: frozenset[str] = frozenset(),
        preserve_unknown: bool = False,
        embedded_resource: bool = False,
        go_name: str = "",
        go_step: str = "",
        go_type: str = "",
        model: str = "",
        pointer: bool = False,
        omit_empty: bool = True,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self.type = kind
        self._fields = fields if fields is not None else {}
        self._items = items
        self.list_type = list_type
        self.map_keys = map_keys
        self.map_type = map_type
        self.merge_key = merge_key
        self.patch_strategies = patch_strategies
        self.default = default
        self.required = required
        self.preserve_unknown = preserve_unknown
        self.embedded_resource = embedded_resource
        self.go_name = go_name
        self.go_step = go_step
        self.go_type = go_type
        self.model = model
        self.pointer = pointer
        self.omit_empty = omit_empty
        self.schema = schema
        self.compiled: dict[str, Any] = {}
        """Functions made for this node (by decode, apply …), by purpose."""

    @property
    def fields(self) -> Mapping[str, Structure]:
        """The named fields of an object."""
        fields = self._fields
        if callable(fields):
            fields = self._fields = fields()
        return fields

    @property
    def items(self) -> Structure | None:
        """The values of a list or map."""
        items = self._items
        if callable(items):
            items = self._items = items()
        return items

    def __repr__(self) -> str:
        return f"Structure({self.type!r}, model={self.model!r})"
