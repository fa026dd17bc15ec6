"""What a kind is: a declaration plus its pure rules. Everything else is generic.

A built-in kind and a custom resource are the same thing to the API server; only where the
declaration comes from differs (a module here, or a CustomResourceDefinition at run time).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from windtunnel.machinery import names
from windtunnel.machinery.schema import Structure
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation


class Column(NamedTuple):
    """One column of a printed table; ``priority`` 0 shows always, 1 with ``-o wide``."""

    name: str
    type: str
    format: str = ""
    priority: int = 0


class Context(NamedTuple):
    """What a rule may know besides the objects."""

    now: float
    """Seconds since the epoch."""


def _nothing(*_: Any) -> None:
    return None


def _no_violations(*_: Any) -> list[Violation]:
    return []


def _no_texts(*_: Any) -> list[str]:
    return []


def _no_fields(_: Tree) -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The pure functions of one kind. Trees are changed in place only by default and prepare_*.

    Order in a create: decode, ``default``, admission (mutating), ``prepare_create``,
    ``validate_create``, admission (validating), store. In an update: decode, ``default``,
    admission, ``prepare_update``, ``validate_update``. A write to ``status`` uses the ``*_status``
    pair, which is handed the new object with everything but status and metadata already restored
    from the old.
    """

    default: Callable[[Tree], None] = _nothing
    """Set what hand-written defaulting sets, after the structural defaults."""
    prepare_create: Callable[[Tree, Context], None] = _nothing
    """Drop what a create may not set (status), set what it always sets (phase)."""
    prepare_update: Callable[[Tree, Tree, Context], None] = _nothing
    """(new, old): keep of the old what an update may not touch."""
    prepare_status: Callable[[Tree, Tree, Context], None] = _nothing
    """(new, old): the same for a write to the status subresource."""
    validate_create: Callable[[Tree], list[Violation]] = _no_violations
    validate_update: Callable[[Tree, Tree], list[Violation]] = _no_violations
    """(new, old)"""
    validate_status: Callable[[Tree, Tree], list[Violation]] = _no_violations
    """(new, old)"""
    warnings: Callable[[Tree, Tree | None], list[str]] = _no_texts
    """(new, old or None): texts for the Warning header."""
    selectable: Callable[[Tree], dict[str, str]] = _no_fields
    """Values of the fields that field selectors know, besides metadata.name and namespace."""
    cells: Callable[[Tree, float], list[Any]] | None = None
    """(object, now): the cells of its table row, one per ``Kind.columns``; None: name and age."""


NO_FIELD_LABELS: Final = (
    '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'
)
"""What is said of a field selector where a kind knows none of its own."""
DeleteAnswer = Literal["status", "object"]
Generation = Literal["none", "spec", "custom"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subresource:
    """One subresource: what it speaks and which verbs it knows."""

    name: str
    kind: str
    group: str = ""
    version: str = ""
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind in one group version."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    list_kind: str = ""
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    structure: Callable[[], Structure]
    """The shape of the object, made at first use."""
    rules: Rules = Rules()
    columns: tuple[Column, ...] = ()
    name_rule: names.NameRule | None = None
    """How metadata.name is judged; None: a DNS subdomain."""
    field_labels: frozenset[str] = frozenset()
    """Field selectors this kind knows besides metadata.name and metadata.namespace."""
    unknown_field_label: str = NO_FIELD_LABELS
    """What is said of another one."""
    stored: str = ""
    """Name of the stored resource where several kinds share one store (``events``)."""
    to_stored: Callable[[Tree], Tree] | None = None
    """Turn an object of this version into the stored form, which may share parts with it; the
    object stays as it is."""
    from_stored: Callable[[Tree], Tree] | None = None
    """The way back; what it is given is used up."""
    generation: Generation = "none"
    """metadata.generation grows with spec, or with all but metadata and status."""
    creates_on_put: bool = False
    """A PUT of a missing object creates it."""
    needs_revision_on_put: bool = False
    """A PUT without metadata.resourceVersion is refused."""
    delete_answer: DeleteAnswer = "status"
    default_propagation: str = ""
    """What a DELETE without propagationPolicy means: "" is Background."""
    metadata_judged: tuple[int, int] = (1, 0)
    """How often an update judges metadata once more: as a change, and as on a create. The real
    server has judged it both ways before, so one mistake shows as several causes."""
    storage_hash: str = ""
    """What discovery prints as storageVersionHash."""
    deprecated: str = ""
    """The warning that every request for this kind earns."""
    custom: bool = False
    """Declared at run time by a CustomResourceDefinition."""

    @property
    def api_version(self) -> str:
        """``apps/v1``, or ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """``deployments.apps``, or ``pods`` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def store(self) -> str:
        """Under which name its objects are stored."""
        return self.stored or self.resource
