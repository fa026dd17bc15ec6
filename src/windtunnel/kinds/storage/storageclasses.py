"""Storage classes, and volume attributes classes, their changeable half.

Source: storage.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import IMMUTABLE
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
)

_DEFAULT_ANNOTATIONS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_PROTECTION: Final = "kubernetes.io/vac-protection"
_MOST_PARAMETERS: Final = 512
_LONGEST_PARAMETERS: Final = 256 * 1024


def is_default(tree: Tree) -> bool:
    """Say whether claims that name no class get this one."""
    annotations = dig(tree, "metadata", "annotations") or {}
    return any(annotations.get(key) == "true" for key in _DEFAULT_ANNOTATIONS)


def _default(tree: Tree) -> None:
    if tree.get("reclaimPolicy") is None:
        tree["reclaimPolicy"] = "Delete"
    if tree.get("volumeBindingMode") is None:
        tree["volumeBindingMode"] = "Immediate"


def _validate_driver(name: str, field: str) -> list[Violation]:
    if not name:
        return [required(field)]
    lower = name.lower()
    return checks.each(names.label_key(lower), field, lower)


def _validate_parameters(parameters: Tree, *, needed: bool) -> list[Violation]:
    if len(parameters) > _MOST_PARAMETERS:
        return [too_long("parameters", _MOST_PARAMETERS)]
    found: list[Violation] = []
    if "" in parameters:
        found.append(invalid("parameters", "", "field can not be empty."))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items())
    if size > _LONGEST_PARAMETERS:
        found.append(too_long("parameters", _LONGEST_PARAMETERS))
    if needed and not parameters:
        found.append(required("parameters", "must contain at least one key/value pair"))
    return found


def _validate_term(term: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    keys: set[str] = set()
    for index, wanted in enumerate(term.get("matchLabelExpressions") or ()):
        where, key = f"{field}.matchLabelExpressions[{index}]", wanted.get("key") or ""
        values = wanted.get("values") or []
        if not values:
            found.append(required(f"{where}.values"))
        for number, value in enumerate(values):
            if value in values[:number]:
                found.append(duplicate(f"{where}.values[{number}]", value))
        found += checks.each(names.label_key(key), f"{where}.key", key)
        if key in keys:
            found.append(duplicate(f"{where}.key", key))
        keys.add(key)
    return found


def _meaning(term: Tree) -> dict[str, frozenset[str]]:
    return {
        wanted.get("key") or "": frozenset(wanted.get("values") or ())
        for wanted in term.get("matchLabelExpressions") or ()
    }


def _validate_topologies(terms: list[Tree]) -> list[Violation]:
    found: list[Violation] = []
    # The real server starts its list of known terms with as many empty ones as there are terms.
    known: list[dict[str, frozenset[str]]] = [{}]
    for index, term in enumerate(terms):
        found += _validate_term(term, f"allowedTopologies[{index}]")
        if _meaning(term) in known:
            found.append(duplicate(f"allowedTopologies[{index}].matchLabelExpressions", ""))
        known.append(_meaning(term))
    return found


def _validate_class(tree: Tree) -> list[Violation]:
    found = _validate_driver(tree.get("provisioner") or "", "provisioner")
    found += _validate_parameters(tree.get("parameters") or {}, needed=False)
    if tree.get("reclaimPolicy"):
        found += checks.one_of(tree["reclaimPolicy"], "reclaimPolicy", ["Delete", "Retain"])
    modes = ["Immediate", "WaitForFirstConsumer"]
    found += checks.one_of_needed(tree.get("volumeBindingMode"), "volumeBindingMode", modes)
    return found + _validate_topologies(tree.get("allowedTopologies") or [])


def _validate_class_update(new: Tree, old: Tree) -> list[Violation]:
    found: list[Violation] = []
    for key in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        value, before = new.get(key), old.get(key)
        if (value or None) != (before or None):
            found.append(invalid(key, value, IMMUTABLE))
    return found


def _class_cells(tree: Tree, now: float) -> list[Any]:
    return [
        checks.name_cell(tree) + (" (default)" if is_default(tree) else ""),
        tree.get("provisioner") or "",
        tree.get("reclaimPolicy") or "Delete",
        tree.get("volumeBindingMode") or "Immediate",
        tree.get("allowVolumeExpansion") or False,
        checks.age_cell(tree, now),
    ]


def _protect(tree: Tree, _: Context) -> None:
    finalizers = tree["metadata"].setdefault("finalizers", [])
    if _PROTECTION not in finalizers:
        finalizers.append(_PROTECTION)


def _validate_attributes(tree: Tree) -> list[Violation]:
    found = _validate_driver(tree.get("driverName") or "", "driverName")
    return found + _validate_parameters(tree.get("parameters") or {}, needed=True)


def _validate_attributes_update(new: Tree, old: Tree) -> list[Violation]:
    found = [
        forbidden(key, f"updates to {key} are forbidden.")
        for key in ("driverName", "parameters")
        if new.get(key) != old.get(key)
    ]
    return found + _validate_attributes(new)


def _attributes_cells(tree: Tree, now: float) -> list[Any]:
    return [checks.name_cell(tree), tree.get("driverName") or "", checks.age_cell(tree, now)]


STORAGE_CLASS: Final = Rules(
    default=_default,
    validate_create=_validate_class,
    validate_update=_validate_class_update,
    cells=_class_cells,
)
ATTRIBUTES_CLASS: Final = Rules(
    prepare_create=_protect,
    validate_create=_validate_attributes,
    validate_update=_validate_attributes_update,
    cells=_attributes_cells,
)
DECLARATIONS: Final = {
    "storageclasses.storage.k8s.io": Declared(delete_answer="object", rules=STORAGE_CLASS),
    "volumeattributesclasses.storage.k8s.io": Declared(
        delete_answer="object", rules=ATTRIBUTES_CLASS
    ),
}
