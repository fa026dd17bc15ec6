"""Secrets: bytes by key, of a type that says which keys there must be."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final

from windtunnel.kinds.configmaps import MOST_BYTES, encoded_size, frozen_changes
from windtunnel.kinds.rules.checks import age_cell, each, immutable, name_cell
from windtunnel.kinds.rules.json_annotations import UnreadableError, mistaken, read_json
from windtunnel.kinds.rules.key_pairs import mistake_in
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, invalid, required, too_long

SERVICE_ACCOUNT: Final = "kubernetes.io/service-account.name"
_OPAQUE: Final = "Opaque"
_DOCKER: Final = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


def _default(secret: Tree) -> None:
    secret.setdefault("type", _OPAQUE)
    texts = secret.pop("stringData", None)
    if texts:
        values = secret.setdefault("data", {})
        for key, text in texts.items():
            values[key] = b64encode(text.encode()).decode()


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    new["type"] = new.get("type") or old.get("type", _OPAQUE)


def _validate(secret: Tree) -> list[Violation]:
    values = secret.get("data") or {}
    found: list[Violation] = []
    size = 0
    for key, value in values.items():
        found += each(names.config_key(key), f"data[{key}]", key)
        size += encoded_size(value)
    if size > MOST_BYTES:
        found.append(too_long("data", MOST_BYTES))
    return found + _by_type(secret, values)


def _by_type(secret: Tree, values: Tree) -> list[Violation]:
    kind = secret.get("type", "")
    if key := _DOCKER.get(kind):
        return _docker(values.get(key), f"data[{key}]")
    match kind:
        case "kubernetes.io/service-account-token":
            if not dig(secret, "metadata", "annotations", SERVICE_ACCOUNT):
                return [required(f"metadata.annotations[{SERVICE_ACCOUNT}]")]
        case "kubernetes.io/basic-auth":
            if not values.keys() & {"username", "password"}:
                return [required("data[username]"), required("data[password]")]
        case "kubernetes.io/ssh-auth":
            if not values.get("ssh-privatekey"):
                return [required("data[ssh-privatekey]")]
        case "kubernetes.io/tls":
            return [required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in values]
    return []


def _docker(value: str | None, field: str) -> list[Violation]:
    if value is None:
        return [required(field)]
    hidden = "<secret contents redacted>"
    try:
        content = read_json(b64decode(value).decode(errors="replace"))
    except UnreadableError as problem:
        return [invalid(field, hidden, str(problem))]
    if isinstance(content, dict) or content is None:
        return []
    return [invalid(field, hidden, str(mistaken(content, "value of type map[string]interface {}")))]


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found = immutable(new.get("type", ""), old.get("type", ""), "type")
    found += frozen_changes(new, old, "data")
    return found + _validate(new)


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    if new.get("type") != "kubernetes.io/tls":
        return []
    values = new.get("data") or {}
    mistake = mistake_in(*(b64decode(values.get(key) or "") for key in ("tls.crt", "tls.key")))
    return [mistake] if mistake else []


def _selectable(secret: Tree) -> dict[str, str]:
    return {"type": secret.get("type", "")}


def _cells(secret: Tree, now: float) -> list[Any]:
    count = len(secret.get("data") or ())
    return [name_cell(secret), secret.get("type", ""), count, age_cell(secret, now)]


DECLARATIONS: Final = {
    "secrets": Declared(
        metadata_judged=(1, 1),
        field_labels=frozenset({"type"}),
        rules=Rules(
            default=_default,
            prepare_update=_prepare_update,
            validate_create=_validate,
            validate_update=_validate_update,
            warnings=_warnings,
            selectable=_selectable,
            cells=_cells,
        ),
    )
}
