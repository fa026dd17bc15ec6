"""The shape of ``metadata``, for kinds whose own schema does not give it: custom resources."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from windtunnel.machinery.schema.models import Models
from windtunnel.machinery.schema.structure import Structure

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
_TEXT: Final = {"type": "string"}
_NEEDED_TEXT: Final = {"type": "string", "default": ""}
_WHOLE: Final = {"type": "integer", "format": "int64"}
_TEXTS: Final = {"type": "object", "additionalProperties": _NEEDED_TEXT}


def _model(name: str) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"#/components/schemas/{_META}{name}"}]}


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _fields(shape: dict[str, Any], *names: str) -> dict[str, Any]:
    return dict.fromkeys(names, shape)


_SCHEMAS: Final[dict[str, Any]] = {
    f"{_META}Time": {"type": "string", "format": "date-time"},
    f"{_META}FieldsV1": {"type": "object"},
    f"{_META}ObjectMeta": {
        "type": "object",
        "properties": {
            **_fields(_TEXT, "name", "generateName", "namespace", "selfLink"),
            **_fields(_TEXT, "uid", "resourceVersion"),
            **_fields(_WHOLE, "generation", "deletionGracePeriodSeconds"),
            **_fields(_model("Time"), "creationTimestamp", "deletionTimestamp"),
            **_fields(_TEXTS, "labels", "annotations"),
            "finalizers": _list(
                _NEEDED_TEXT,
                **{"x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge"},
            ),
            "ownerReferences": _list(
                _model("OwnerReference"),
                **{
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["uid"],
                    "x-kubernetes-patch-merge-key": "uid",
                    "x-kubernetes-patch-strategy": "merge",
                },
            ),
            "managedFields": _list(_model("ManagedFieldsEntry")),
        },
    },
    f"{_META}OwnerReference": {
        "type": "object",
        "required": ["apiVersion", "kind", "name", "uid"],
        "properties": {
            **_fields(_NEEDED_TEXT, "apiVersion", "kind", "name", "uid"),
            **_fields({"type": "boolean"}, "blockOwnerDeletion", "controller"),
        },
        "x-kubernetes-map-type": "atomic",
    },
    f"{_META}ManagedFieldsEntry": {
        "type": "object",
        "properties": {
            **_fields(_TEXT, "apiVersion", "fieldsType", "manager", "operation", "subresource"),
            "fieldsV1": _model("FieldsV1"),
            "time": _model("Time"),
        },
    },
}


@cache
def object_meta() -> Structure:
    """Return the structure of ``ObjectMeta``."""
    return Models(_SCHEMAS).structure(f"{_META}ObjectMeta")
