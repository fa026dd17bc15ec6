from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.schema import (
    from_custom_schema,
    judge_definition,
    read_custom,
    validate_custom,
)

ITEM = {"type": "object", "properties": {"k": {"type": "string"}}}
SPEC = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "with": {"type": "object", "properties": {"n": {"type": "integer", "default": 7}}},
        "list": {"type": "array", "items": ITEM},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "maybe": {"type": "string", "nullable": True},
        "either": {"x-kubernetes-int-or-string": True},
        "pod": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    },
}  # fmt: skip
WIDGET = {"type": "object", "properties": {"spec": SPEC}}


def read(spec: Any, schema: Any = WIDGET, **more: Any) -> tuple[Any, tuple[str, ...]]:
    tree = {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}
    tree |= more
    findings = read_custom(from_custom_schema(schema), tree, kind="Widget", version="v1")
    return tree, findings.unknown


READ = {
    "unknown fields are dropped": ({"size": 1, "bogus": 2}, {"size": 1}, ("spec.bogus",)),
    "in lists too": ({"list": [{"k": "a", "x": 1}]}, {"list": [{"k": "a"}]}, ("spec.list[0].x",)),
    "of what should be none, all fields are dropped": (
        {"color": {"x": 1}}, {"color": {}}, ("spec.color.x",)),
    "nulls of maps are dropped": ({"map": {"a": None}}, {"map": {}}, ()),
    "values of maps are kept": ({"map": {"a": 1}}, {"map": {"a": 1}}, ()),
    "what is preserved is kept": ({"free": {"a": [1]}}, {"free": {"a": [1]}}, ()),
    "a null that may not be is dropped": ({"size": None}, {}, ()),
    "a null that may be is kept": ({"maybe": None}, {"maybe": None}, ()),
    "defaults are set where their parent is": ({"with": {}}, {"with": {"n": 7}}, ()),
    "and in place of a null": ({"with": {"n": None}}, {"with": {"n": 7}}, ()),
    "a whole number loses its fraction": ({"size": 2.0, "free": {"a": 1.5}},
                                          {"size": 2, "free": {"a": 1.5}}, ()),
    "metadata of an embedded object is known": (
        {"pod": {"kind": "Pod", "metadata": {"name": "x", "bogus": 1}, "spec": {"foo": 1}}},
        {"pod": {"kind": "Pod", "metadata": {"name": "x"}, "spec": {"foo": 1}}},
        ("spec.pod.metadata.bogus",),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "want", "unknown"), READ.values(), ids=READ.keys())
def test_an_object_is_read_as_it_will_be_stored(
    spec: Any, want: Any, unknown: tuple[str, ...]
) -> None:
    tree, found = read(copy.deepcopy(spec))

    assert tree["spec"] == want
    assert found == unknown


def test_defaults_are_not_shared_between_objects() -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "default": {"a": [1]},
              "x-kubernetes-preserve-unknown-fields": True}}}  # fmt: skip
    one = {"apiVersion": "x.io/v1", "kind": "W", "metadata": {}}
    structure = from_custom_schema(schema)
    read_custom(structure, one, kind="W", version="v1")
    one["spec"]["a"].append(2)  # type: ignore[index]
    other: dict[str, Any] = {"metadata": {}}

    read_custom(structure, other, kind="W", version="v1")

    assert other["spec"] == {"a": [1]}


def test_fields_of_all_objects_are_known_and_their_types_checked() -> None:
    tree, unknown = read({}, metadata={"name": "w", "bogus": 1, "labels": {}}, other=1)

    assert tree["metadata"] == {"name": "w"}
    assert unknown == ("metadata.bogus", "other")
    with pytest.raises(BadRequest, match=r"Go struct field ObjectMeta\.labels of type string"):
        read({}, metadata={"labels": {"a": 1}})


def violations(schema: Any, value: Any) -> list[str]:
    spec = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": schema}}},
    }
    tree = {"apiVersion": "x.io/v1", "kind": "W", "metadata": {}, "spec": {"a": value}}
    structure = from_custom_schema(spec)
    read_custom(structure, tree, kind="W", version="v1")
    return [str(violation) for violation in validate_custom(structure, tree)]


VIOLATIONS = {
    "type": ({"type": "integer"}, "x",
             ['spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"']),
    "a fraction is no integer": ({"type": "integer"}, 1.5,
             ['spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"',
              '<nil>: Invalid value: "": Checked value must be of type integer (default format) in '
              "spec.a"]),
    "an integer that is out of range": ({"type": "integer", "format": "int32"}, 2**31,
             ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 '
              "in spec.a"]),
    "a whole number is compared with what is whole of a bound": (
        {"type": "number", "minimum": 1.5}, 1, []),
    "all of": ({"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 9}]}, 1,
             ["spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5",
              '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf)']),
    "an embedded object says what it is": (
        {"type": "object", "x-kubernetes-embedded-resource": True,
         "x-kubernetes-preserve-unknown-fields": True}, {"kind": "Pod"},
        ["spec.a.apiVersion: Required value"]),
    "null is no value of an enum": ({"type": "string", "nullable": True, "enum": ["a"]}, None,
             ['spec.a: Unsupported value: null: supported values: "a"']),
    "a pattern that is none": ({"type": "string", "pattern": "(?=a)"}, "a",
             ["spec.a: Invalid value: \"a\": spec.a in body should match '(?=a), but pattern is "
              "invalid: error parsing regexp: invalid or unsupported Perl syntax: `(?=`'"]),
    "a whole number is a number": ({"type": "number"}, 1, []),
    "either type": ({"x-kubernetes-int-or-string": True}, True,
             ['spec.a: Invalid value: "boolean": spec.a in body must be of type integer,string: '
              '"boolean"']),
    "maximum": ({"type": "integer", "maximum": 10}, 30,
             ["spec.a: Invalid value: 30: spec.a in body should be less than or equal to 10"]),
    "exclusive maximum": ({"type": "integer", "maximum": 10, "exclusiveMaximum": True}, 10,
             ["spec.a: Invalid value: 10: spec.a in body should be less than 10"]),
    "minimum": ({"type": "number", "minimum": 1.0}, 0.5,
             ["spec.a: Invalid value: 0.5: spec.a in body should be greater than or equal to 1"]),
    "multiple": ({"type": "integer", "multipleOf": 3}, 4,
             ["spec.a: Invalid value: 4: spec.a in body should be a multiple of 3"]),
    "shortest": ({"type": "string", "minLength": 1}, "",
             ['spec.a: Invalid value: "": spec.a in body should be at least 1 chars long']),
    "longest": ({"type": "string", "maxLength": 2}, "abc",
             ["spec.a: Too long: may not be more than 2 bytes"]),
    "pattern": ({"type": "string", "pattern": "^a+$"}, "ab",
             ["spec.a: Invalid value: \"ab\": spec.a in body should match '^a+$'"]),
    "enum": ({"type": "string", "enum": ["red", "blue"]}, "green",
             ['spec.a: Unsupported value: "green": supported values: "red", "blue"']),
    "format": ({"type": "string", "format": "ipv4"}, "x",
             ['spec.a: Invalid value: "x": spec.a in body must be of type ipv4: "x"']),
    "an unknown format is not judged": ({"type": "string", "format": "odd"}, "x", []),
    "items, then their number": (
        {"type": "array", "maxItems": 3, "items": {"type": "integer"}}, [1, 2, 3, "x"],
        ['spec.a[3]: Invalid value: "string": spec.a[3] in body must be of type integer: "string"',
         "spec.a: Too many: 4: must have at most 3 items"]),
    "fewest items": ({"type": "array", "minItems": 1, "items": {"type": "integer"}}, [],
             ["spec.a: Invalid value: 0: spec.a in body should have at least 1 items"]),
    "values of a map": (
        {"type": "object", "additionalProperties": {"type": "integer"}}, {"x": "y"},
        ['spec.a.x: Invalid value: "string": spec.a.x in body must be of type integer: "string"']),
    "most properties": (
        {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}},
        {"x": 1, "y": 2}, ["spec.a: Too many: 2: must have at most 1 item"]),
    "required": (
        {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}}, {},
        ["spec.a.x: Required value"]),
    "any of": (
        {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
         "anyOf": [{"required": ["x"]}, {"required": ["y"]}]}, {},
        ['<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
         "spec.a.x: Required value"]),
    "one of, none": (
        {"type": "integer", "oneOf": [{"minimum": 5}, {"minimum": 7}]}, 1,
        ['<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). '
         "Found none valid",
         "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5"]),
    "one of, both": (
        {"type": "integer", "oneOf": [{"minimum": 5}, {"minimum": 7}]}, 9,
        ['<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). '
         "Found 2 valid alternatives"]),
    "not": ({"type": "integer", "not": {"minimum": 5}}, 9,
            ['<nil>: Invalid value: "": "spec.a" must not validate the schema (not)']),
    "a key twice": (
        {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
         "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}},
        [{"k": "1"}, {"k": "1"}], ['spec.a[1]: Duplicate value: {"k":"1"}']),
    "an item twice": (
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        ["x", "y", "x"], ['spec.a[2]: Duplicate value: "x"']),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "want"), VIOLATIONS.values(), ids=VIOLATIONS.keys())
def test_an_object_that_breaks_its_schema_is_told_how(
    schema: Any, value: Any, want: list[str]
) -> None:
    assert violations(schema, value) == want


ROOT = "spec.validation.openAPIV3Schema"
KEYED = {"type": "array", "x-kubernetes-list-type": "map"}
DEFINITIONS = {
    "a good one": (WIDGET, []),
    "types are needed": (
        {"properties": {"spec": {}}},
        [f"{ROOT}.properties[spec].type: Required value: must not be empty for specified object "
         "fields", f"{ROOT}.type: Required value: must not be empty at the root"]),
    "the root is an object": (
        {"type": "array", "items": {"type": "string"}},
        [f'{ROOT}.type: Invalid value: "array": must be object at the root']),
    "types stand outside of combinations": (
        {"type": "object", "properties": {
            "spec": {"type": "object", "anyOf": [{"properties": {"a": {"type": "string"}}}]}}},
        [f"{ROOT}.properties[spec].anyOf[0].properties[a].type: Forbidden: must be empty to be "
         "structural"]),
    "the choice of integer or string is no such type": (
        {"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": True,
         "anyOf": [{"type": "integer"}, {"type": "string"}]}}}, []),
    "a default follows its schema": (
        {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
        [f'{ROOT}.properties[a].default: Invalid value: "string":  in body must be of type '
         'integer: "string"']),
    "keys of lists have values": (
        {"type": "object", "properties": {"a": {**KEYED, "x-kubernetes-list-map-keys": ["k"],
         "items": {"type": "object", "properties": {"k": {"type": "string"}}}}}},
        [f"{ROOT}.properties[a].items.properties[k].default: Required value: this property is in "
         "x-kubernetes-list-map-keys, so it must have a default or be a required property"]),
    "keyed lists have keys": (
        {"type": "object", "properties": {"a": {**KEYED, "items": {"type": "string"}}}},
        [f"{ROOT}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
         "x-kubernetes-list-type is map"]),
    "rules in CEL are refused while nothing judges by them": (
        {"type": "object", "properties": {"spec": {"type": "object",
         "x-kubernetes-validations": [{"rule": "self.a < 1"}]}}},
        [f"{ROOT}.properties[spec].x-kubernetes-validations[0].rule: Forbidden: no rule in "
         "CEL but self == oldSelf is supported yet; remove it, or the objects it judges would be "
         "accepted unjudged"]),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "want"), DEFINITIONS.values(), ids=DEFINITIONS.keys())
def test_a_definition_is_judged_before_it_is_served(schema: Any, want: list[str]) -> None:
    assert [str(violation) for violation in judge_definition(schema)] == want


values = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 20) | st.floats(-5, 5) | st.sampled_from("ab"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*SPEC["properties"], "k", "n", "x"]), inner, max_size=4)
    ),  # type: ignore[misc]
    max_leaves=12,
)


@given(spec=st.dictionaries(st.sampled_from(sorted(SPEC["properties"])), values, max_size=5))  # type: ignore[arg-type]
def test_reading_twice_changes_nothing(spec: Any) -> None:
    tree, _ = read(spec)
    once = copy.deepcopy(tree)

    assert read_custom(from_custom_schema(WIDGET), tree, kind="W", version="v1").unknown == ()
    assert tree == once
