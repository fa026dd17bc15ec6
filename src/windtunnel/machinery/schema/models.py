"""Structures of built-in kinds, made on demand from OpenAPI v3 documents.

OpenAPI says which fields there are and how they merge, but not which of them the Go types always
write, nor which tell null from zero; the protobuf table does, and both are joined here. A field
that refers to a model gets a node of its own (its default and merge rules are the field's), which
shares the model's fields and compiled functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from windtunnel.errors import BrokenInvariant
from windtunnel.machinery.protobuf import table
from windtunnel.machinery.schema.structure import MISSING, Structure

_REFERENCE = "#/components/schemas/"

_LEAF_MODELS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("quantity", "resource.Quantity"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ("int-or-string", "intstr.IntOrString"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": ("time", "v1.Time"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": ("micro-time", "v1.MicroTime"),
}
_LIKE_POINTERS = {("ObjectMeta", "creationTimestamp"), ("ObjectMeta", "managedFields")}
"""Fields held as if by pointer: this time is left out when it is zero, where all others are written
as null; and an empty list of managed fields means something other than none."""
_SCHEMA_OR = "JSONSchemaPropsOr"


_NAMED_TEXTS = {
    ("Container", "imagePullPolicy"): "v1.PullPolicy",
    ("Container", "terminationMessagePolicy"): "v1.TerminationMessagePolicy",
    ("ContainerPort", "protocol"): "v1.Protocol",
    ("CronJobSpec", "concurrencyPolicy"): "v1.ConcurrencyPolicy",
    ("DeploymentStrategy", "type"): "v1.DeploymentStrategyType",
    ("JobSpec", "completionMode"): "v1.CompletionMode",
    ("LabelSelectorRequirement", "operator"): "v1.LabelSelectorOperator",
    ("NodeSelectorRequirement", "operator"): "v1.NodeSelectorOperator",
    ("ObjectMeta", "uid"): "types.UID",
    ("OwnerReference", "uid"): "types.UID",
    ("PersistentVolumeClaimSpec", "volumeMode"): "v1.PersistentVolumeMode",
    ("PodSpec", "dnsPolicy"): "v1.DNSPolicy",
    ("PodSpec", "preemptionPolicy"): "v1.PreemptionPolicy",
    ("PodSpec", "restartPolicy"): "v1.RestartPolicy",
    ("PodStatus", "phase"): "v1.PodPhase",
    ("PriorityClass", "preemptionPolicy"): "v1.PreemptionPolicy",
    ("Secret", "type"): "v1.SecretType",
    ("ServicePort", "protocol"): "v1.Protocol",
    ("ServiceSpec", "sessionAffinity"): "v1.ServiceAffinity",
    ("ServiceSpec", "type"): "v1.ServiceType",
    ("Taint", "effect"): "v1.TaintEffect",
    ("Toleration", "effect"): "v1.TaintEffect",
    ("Toleration", "operator"): "v1.TolerationOperator",
    ("TopologySpreadConstraint", "whenUnsatisfiable"): "v1.UnsatisfiableConstraintAction",
}
"""Texts with a Go type of their own, which OpenAPI does not tell; decode errors print it."""


class _Fact(NamedTuple):
    """How the Go type holds a field."""

    pointer: bool
    omit_empty: bool
    within: str = ""
    """The embedded Go structs that hold the field, with a dot after each."""


class Models:
    """The named models of one OpenAPI document (or of its ``components.schemas`` alone)."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        components = document.get("components")
        self._schemas: Mapping[str, Any] = components["schemas"] if components else document
        self._made: dict[str, Structure] = {}

    def __contains__(self, model: str) -> bool:
        return model in self._schemas

    def structure(self, model: str) -> Structure:
        """Return the structure of a model; the same node each time."""
        made = self._made.get(model)
        if made is None:
            schema = self._schemas.get(model)
            if schema is None:
                raise BrokenInvariant(f"no model {model}")
            made = self._made[model] = self._model(model, schema)
        return made

    def _model(self, model: str, schema: Mapping[str, Any]) -> Structure:
        name = model.rpartition(".")[2]
        leaf = _LEAF_MODELS.get(model)
        if leaf is not None:
            return Structure(leaf[0], go_type=leaf[1], model=model)
        go_type = ".".join(model.split(".")[-2:])
        if name.startswith(_SCHEMA_OR):
            return Structure("any", items=self._schema_props, go_type=go_type, model=model)
        properties = schema.get("properties")
        if properties is None:
            return Structure("any", go_type=go_type, model=model)
        required = frozenset(schema.get("required", ()))

        def fields() -> dict[str, Structure]:
            facts = _facts(model)
            return {
                field: self._node(
                    part, facts.get(field) or _guess(field, part, required), name, field
                )
                for field, part in properties.items()
            }

        return Structure(
            "object",
            fields=fields,
            map_type=schema.get("x-kubernetes-map-type", "granular"),
            required=required,
            go_name=name,
            go_type=go_type,
            model=model,
        )

    def _schema_props(self) -> Structure:
        return self.structure(
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
        )

    def _node(
        self, schema: Mapping[str, Any], fact: _Fact, owner: str = "", field: str = ""
    ) -> Structure:
        """Return the node of one field, list item or map value."""
        reference = schema.get("$ref") or _only(schema.get("allOf"))
        if reference:
            return self._reference(reference.removeprefix(_REFERENCE), schema, fact, (owner, field))
        kind = schema.get("type", "")
        pointer = fact.pointer or (owner, field) in _LIKE_POINTERS
        common: dict[str, Any] = {
            "default": schema.get("default", MISSING),
            "pointer": pointer,
            "go_step": fact.within + field,
            "omit_empty": fact.omit_empty,
            "merge_key": schema.get("x-kubernetes-patch-merge-key", ""),
            "patch_strategies": _strategies(schema),
        }
        match kind:
            case "array":
                part = schema["items"]
                return Structure(
                    "list",
                    items=lambda: self._node(part, _ITEM),
                    list_type=schema.get("x-kubernetes-list-type", "atomic"),
                    map_keys=tuple(schema.get("x-kubernetes-list-map-keys", ())),
                    go_type="[]" + self._go_type(part),
                    **common,
                )
            case "object" if "additionalProperties" in schema:
                part = schema["additionalProperties"]
                value_type = self._go_type(part)
                return Structure(
                    "map",
                    items=lambda: self._node(part, _ITEM),
                    map_type=schema.get("x-kubernetes-map-type", "granular"),
                    go_type="v1.ResourceList"
                    if value_type == "resource.Quantity"
                    else f"map[string]{value_type}",
                    **common,
                )
            case "string" | "integer" | "number" | "boolean":
                name = "bytes" if schema.get("format") == "byte" else kind
                go_type = _NAMED_TEXTS.get((owner, field)) or self._go_type(schema)
                return Structure(name, go_type=go_type, **common)
        return Structure("any", **common)

    def _reference(
        self, model: str, schema: Mapping[str, Any], fact: _Fact, place: tuple[str, str]
    ) -> Structure:
        base = self.structure(model)
        map_type = schema.get("x-kubernetes-map-type", base.map_type)
        node = Structure(
            base.type,
            fields=lambda: base.fields,
            items=base._items,
            list_type=base.list_type,
            map_type=map_type,
            patch_strategies=_strategies(schema),
            default=schema.get("default", MISSING),
            required=base.required,
            go_name=base.go_name,
            go_step=fact.within + place[1],
            go_type=base.go_type,
            model=model,
            pointer=fact.pointer or place in _LIKE_POINTERS,
            omit_empty=fact.omit_empty,
        )
        if map_type == base.map_type:
            node.compiled = base.compiled
        return node

    def _go_type(self, schema: Mapping[str, Any]) -> str:
        reference = schema.get("$ref") or _only(schema.get("allOf"))
        if reference:
            model = reference.removeprefix(_REFERENCE)
            leaf = _LEAF_MODELS.get(model)
            return leaf[1] if leaf else ".".join(model.split(".")[-2:])
        match schema.get("type"):
            case "array":
                return "[]" + self._go_type(schema["items"])
            case "object":
                return "map[string]" + self._go_type(schema.get("additionalProperties", {}))
            case "integer":
                return str(schema.get("format", "int64"))
            case "number":
                return "float64"
            case "boolean":
                return "bool"
            case "string":
                return "[]uint8" if schema.get("format") == "byte" else "string"
        return "interface {}"


_ITEM = _Fact(pointer=False, omit_empty=False)


def _only(parts: Any) -> str:
    return str(parts[0]["$ref"]) if parts else ""


def _strategies(schema: Mapping[str, Any]) -> frozenset[str]:
    text = schema.get("x-kubernetes-patch-strategy", "")
    return frozenset(text.split(",")) if text else frozenset()


def _facts(model: str) -> dict[str, _Fact]:
    """Return what the protobuf table knows of a model's fields, embedded messages included."""
    parts = model.split(".")
    in_table = f"{parts[-3]}/{parts[-2]}.{parts[-1]}"
    name = parts[-1] if "apiextensions-apiserver" in parts else in_table
    return _message_facts(name, table.messages())


def _message_facts(
    name: str, messages: Mapping[str, Mapping[str, Any]], within: str = ""
) -> dict[str, _Fact]:
    facts: dict[str, _Fact] = {}
    for field in messages.get(name, {}).values():
        if field.get("i"):
            embedded: str = field["t"]
            step = f"{within}{embedded.rpartition('.')[2]}."
            facts.update(_message_facts(embedded, messages, step))
        else:
            facts[field["n"]] = _Fact(bool(field.get("p")), bool(field.get("oe")), within)
    return facts


def _guess(field: str, schema: Mapping[str, Any], required: frozenset[str]) -> _Fact:
    """Judge a field that the table does not know (apiVersion, kind, the aggregator's kinds)."""
    is_reference = "allOf" in schema or "$ref" in schema
    has_default = "default" in schema
    omit_empty = field not in required and (is_reference or not has_default)
    return _Fact(pointer=is_reference and not has_default, omit_empty=omit_empty)
