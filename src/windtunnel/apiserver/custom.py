"""Custom resources: a CustomResourceDefinition is a kind declared at run time.

The catalogue follows the definitions in the store: a definition is established right after it is
written, and one that is deleted takes its objects with it before it goes itself. Versions differ
in their schema only (conversion strategy ``None``); a definition with a rule in CEL that cannot be
judged is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from windtunnel.apiserver.forms.jsonpath import find
from windtunnel.apiserver.verbs.objects import touch
from windtunnel.kernel import Clock
from windtunnel.kinds import Catalogue
from windtunnel.kinds.extension.definition_conditions import CLEANUP_FINALIZER, established_status
from windtunnel.kinds.served.kind import Column, Context, Kind, Rules, Subresource
from windtunnel.machinery.age import age
from windtunnel.machinery.schema import (
    Structure,
    from_custom_schema,
    validate_custom,
    validate_transition,
)
from windtunnel.machinery.tree import Key, Tree, dig, encode
from windtunnel.machinery.violations import Violation
from windtunnel.store import Store, Version

DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_VERBS: Final = (
    "delete", "deletecollection", "get", "list", "patch", "create", "update", "watch",
)  # fmt: skip
_PART_VERBS: Final = ("get", "patch", "update")
_ANYTHING: Final[Tree] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

Clear = Callable[[Kind], bool]
"""Deletes all objects of a kind; says whether none is left."""


def _cell(tree: Tree, column: Tree, now: float) -> Any:
    values = find(tree, column.get("jsonPath") or "")
    if not values or values[0] is None:
        return None
    value = values[0]
    match column.get("type"):
        case "integer":
            return value if isinstance(value, int) else None
        case "number":
            return value if isinstance(value, (int, float)) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return age(value, now) if isinstance(value, str) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return encode(value).decode()
    return str(value)


def _rules(version: Tree, structure: Callable[[], Structure], *, has_status: bool) -> Rules:
    columns = version.get("additionalPrinterColumns") or [
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    ]
    selectable = [each["jsonPath"] for each in version.get("selectableFields") or ()]

    def cells(tree: Tree, now: float) -> list[Any]:
        return [dig(tree, "metadata", "name"), *(_cell(tree, each, now) for each in columns)]

    def fields(tree: Tree) -> dict[str, str]:
        found = {}
        for path in selectable:
            values = find(tree, path)
            if values:
                value = values[0]
                text = str(value).lower() if isinstance(value, bool) else str(value)
                found[path.removeprefix(".")] = text
        return found

    def prepare_create(tree: Tree, _: Context) -> None:
        if has_status:
            tree.pop("status", None)

    def prepare_update(new: Tree, old: Tree, _: Context) -> None:
        if has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]

    def prepare_status(new: Tree, old: Tree, _: Context) -> None:
        owned = new["metadata"].get("managedFields")
        given = new["metadata"].get("resourceVersion")
        new["metadata"] = {**old["metadata"], "resourceVersion": given}
        if owned:
            new["metadata"]["managedFields"] = owned

    def validate_update(new: Tree, old: Tree) -> list[Violation]:
        shape = structure()
        changed = validate_transition(shape.schema or {}, new, old)
        return [*validate_custom(shape, new), *changed]

    return Rules(
        prepare_create=prepare_create,
        prepare_update=prepare_update,
        prepare_status=prepare_status,
        validate_create=lambda tree: validate_custom(structure(), tree),
        validate_update=validate_update,
        validate_status=validate_update,
        selectable=fields,
        cells=cells,
    )


def _columns(version: Tree) -> tuple[Column, ...]:
    given = version.get("additionalPrinterColumns")
    if not given:
        return (Column("Name", "string", "name"), Column("Age", "date"))
    return (
        Column("Name", "string", "name"),
        *(
            Column(each["name"], each["type"], each.get("format") or "", each.get("priority") or 0)
            for each in given
        ),
    )


def kinds_of(definition: Tree) -> list[Kind]:
    """Return the kinds that a definition serves, one per served version."""
    spec = definition["spec"]
    storage = next((each["name"] for each in spec["versions"] if each.get("storage")), "")
    return [_kind(spec, version, storage) for version in spec["versions"] if version.get("served")]


def _kind(spec: Tree, version: Tree, storage: str) -> Kind:
    names, group, name = spec["names"], spec["group"], version["name"]
    schema = dig(version, "schema", "openAPIV3Schema") or _ANYTHING
    if spec.get("preserveUnknownFields"):
        schema = {**schema, "x-kubernetes-preserve-unknown-fields": True}
    made: list[Structure] = []

    def structure() -> Structure:
        if not made:
            made.append(from_custom_schema(schema))
        return made[0]

    parts: dict[str, Subresource] = {}
    given = version.get("subresources") or {}
    if "status" in given:
        parts["status"] = Subresource(
            name="status", kind=names["kind"], group=group, version=name, verbs=_PART_VERBS
        )
    if "scale" in given:
        parts["scale"] = Subresource(
            name="scale", kind="Scale", group="autoscaling", version="v1", verbs=_PART_VERBS
        )
    selectable = version.get("selectableFields") or ()
    return Kind(
        group=group,
        version=name,
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        list_kind=names.get("listKind") or f"{names['kind']}List",
        namespaced=spec["scope"] == "Namespaced",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        verbs=_VERBS,
        subresources=parts,
        structure=structure,
        rules=_rules(version, structure, has_status="status" in parts),
        columns=_columns(version),
        field_labels=frozenset(each["jsonPath"].removeprefix(".") for each in selectable),
        unknown_field_label="field label not supported: {label}",
        to_stored=None if name == storage else _renamed(f"{group}/{storage}"),
        from_stored=None if name == storage else _renamed(f"{group}/{name}"),
        generation="custom",
        needs_revision_on_put=True,
        custom=True,
    )


def _is_established(definition: Tree) -> bool:
    return any(
        each.get("type") == "Established" and each.get("status") == "True"
        for each in dig(definition, "status", "conditions") or ()
    )


def _renamed(api_version: str) -> Callable[[Tree], Tree]:
    def rename(tree: Tree) -> Tree:
        return {**tree, "apiVersion": api_version}

    return rename


class Customs:
    """Keeps the catalogue in line with the definitions."""

    def __init__(self, store: Store, catalogue: Catalogue, clock: Clock) -> None:
        self._store, self._catalogue, self._clock = store, catalogue, clock
        self._kinds: dict[str, list[Kind]] = {}
        self._scales: dict[tuple[str, str, str], Tree] = {}
        self._deprecations: dict[tuple[str, str, str], str] = {}
        self._going: set[str] = set()
        self._todo: list[str] = []
        for version in store.list(DEFINITIONS):
            self._todo.append(version.key.name)
        store.subscribe("", self._notice)

    def _notice(self, version: Version) -> None:
        if version.resource == DEFINITIONS:
            self._todo.append(version.key.name)
        elif version.type == "DELETED" and version.resource in self._going:
            self._todo.append(version.resource)

    @property
    def pending(self) -> bool:
        """Whether ``settle`` has something to do."""
        return bool(self._todo)

    def scale_paths(self, kind: Kind) -> Tree | None:
        """Return where a custom kind keeps its replicas; None for built-in kinds."""
        return self._scales.get((kind.group, kind.version, kind.plural)) if kind.custom else None

    def deprecation(self, kind: Kind) -> str:
        """Return what to warn of when a kind is used, or ""."""
        return self._deprecations.get((kind.group, kind.version, kind.plural), "")

    def is_going(self, kind: Kind) -> bool:
        """Whether the kind's definition is being deleted."""
        return kind.resource in self._going

    def settle(self, clear: Clear) -> None:
        """Do what changes of definitions ask for; called between writes."""
        while self._todo:
            name = self._todo.pop(0)
            version = self._store.get(DEFINITIONS, Key("", name))
            if version is None:
                self._unserve(name)
                continue
            definition = version.tree()
            if "deletionTimestamp" in definition["metadata"]:
                self._serve(name, definition)
                self._clean_up(name, version, definition, clear)
            else:
                self._establish(version, definition)

    def _serve(self, name: str, definition: Tree) -> None:
        self._unserve(name)
        spec = definition["spec"]
        self._kinds[name] = kinds_of(definition)
        for kind in self._kinds[name]:
            self._catalogue.add(kind)
        for version in spec["versions"]:
            place = (spec["group"], version["name"], spec["names"]["plural"])
            scale = dig(version, "subresources", "scale")
            if scale is not None:
                self._scales[place] = scale
            if version.get("deprecated"):
                standard = (
                    f"{spec['group']}/{version['name']} {spec['names']['kind']} is deprecated"
                )
                self._deprecations[place] = version.get("deprecationWarning") or standard

    def _unserve(self, name: str) -> None:
        for kind in self._kinds.pop(name, ()):
            self._catalogue.remove(kind)
            place = (kind.group, kind.version, kind.plural)
            self._scales.pop(place, None)
            self._deprecations.pop(place, None)
        if self._store.get(DEFINITIONS, Key("", name)) is None:
            self._going.discard(name)

    def _establish(self, version: Version, definition: Tree) -> None:
        """Accept a definition's names, where they are free, and say that it is served."""
        metadata = definition["metadata"]
        finalizers = list(metadata.get("finalizers") or ())
        others = (each.tree() for each in self._store.list(DEFINITIONS))
        status = established_status(definition, others, self._clock.now())
        settled = status == definition.get("status") and CLEANUP_FINALIZER in finalizers
        definition["status"] = status
        if _is_established(definition):
            # Served before anybody reads that it is: who is told may ask for it at once.
            self._serve(version.key.name, definition)
        if settled:
            return
        if CLEANUP_FINALIZER not in finalizers:
            metadata["finalizers"] = [*finalizers, CLEANUP_FINALIZER]
        touch(self._store, version, definition)

    def _clean_up(self, name: str, version: Version, definition: Tree, clear: Clear) -> None:
        """Delete the objects of a definition that goes, and the definition after the last."""
        metadata = definition["metadata"]
        finalizers = list(metadata.get("finalizers") or ())
        if CLEANUP_FINALIZER not in finalizers:
            return
        self._going.add(name)
        kinds = self._kinds.get(name, [])
        if kinds and not clear(kinds[0]):
            return
        remaining = [each for each in finalizers if each != CLEANUP_FINALIZER]
        if not remaining:
            self._store.remove(DEFINITIONS, version.key, expected=version.revision)
            return
        metadata["finalizers"] = remaining
        touch(self._store, version, definition)
