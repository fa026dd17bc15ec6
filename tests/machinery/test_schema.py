from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kinds.served import recorded
from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.schema import (
    Findings,
    Models,
    Structure,
    decode_check,
    fill_defaults,
    settle_fields,
    type_mistake,
)

Find = Callable[[str], Structure]

TIME = "2025-01-02T03:04:05Z"


def settled(structure: Structure, tree: Any) -> Any:
    fill_defaults(structure, tree)
    return tree


SETTLED = {
    "what Go always writes is added": (
        "core.v1.Pod", {},
        {"metadata": {}, "spec": {"containers": None}, "status": {}},
    ),
    "structs are written even when empty": (
        "core.v1.Container", {"name": "c"}, {"name": "c", "resources": {}},
    ),
    "a text that is always written is empty at least": (
        "core.v1.Container", {}, {"name": "", "resources": {}},
    ),
    "zeros of omitempty fields are dropped": (
        "core.v1.PodSpec", {"containers": [], "hostNetwork": False, "nodeName": ""},
        {"containers": None},
    ),
    "zeros of pointers are kept": (
        "core.v1.PodSpec", {"priority": 0, "securityContext": {}, "hostUsers": False},
        {"priority": 0, "securityContext": {}, "hostUsers": False, "containers": None},
    ),
    "nulls are dropped": (
        "core.v1.PodSpec", {"priority": None, "nodeName": None, "volumes": None},
        {"containers": None},
    ),
    "empty maps and lists are dropped": (
        "core.v1.PodSpec", {"nodeSelector": {}, "tolerations": []}, {"containers": None},
    ),
    "a list that is always written is null when empty": (
        "core.v1.ProjectedVolumeSource", {"sources": []}, {"sources": None},
    ),
    "a time that is not set is null": (
        "core.v1.NodeCondition", {"type": "Ready", "status": "True"},
        {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None},
    ),
    "times are in UTC and whole seconds": (
        "core.v1.PodStatus", {"startTime": "2025-01-02T05:04:05.9+02:00"}, {"startTime": TIME},
    ),
    "quantities are canonical, numbers too": (
        "core.v1.ResourceRequirements", {"limits": {"cpu": 0.5, "memory": "1024Mi", "x": 3}},
        {"limits": {"cpu": "500m", "memory": "1Gi", "x": "3"}},
    ),
    "a default that is not zero is set": (
        "core.v1.ContainerPort", {"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"},
    ),
    "null in a map of texts is empty": (
        "core.v1.ConfigMap", {"data": {"a": None}}, {"data": {"a": ""}, "metadata": {}},
    ),
    "embedded structs are part of their parent": (
        "core.v1.Volume", {"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}},
    ),
    "an empty list of managed fields says something": (
        "core.v1.ConfigMap", {"metadata": {"managedFields": []}},
        {"metadata": {"managedFields": []}},
    ),
    "whole floats are written without a fraction": (
        "autoscaling.v2.MetricTarget", {"type": "Utilization", "averageUtilization": 5},
        {"type": "Utilization", "averageUtilization": 5},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("model", "tree", "want"), SETTLED.values(), ids=SETTLED.keys())
def test_an_object_takes_the_form_the_server_writes(
    structure: Find, model: str, tree: Any, want: Any
) -> None:
    assert settled(structure(model), copy.deepcopy(tree)) == want


TYPE_MISTAKES = {
    "text for a number": (
        "core.v1.Pod", {"spec": {"terminationGracePeriodSeconds": "x"}},
        "json: cannot unmarshal string into Go struct field "
        "PodSpec.spec.terminationGracePeriodSeconds of type int64",
    ),
    "number for a text, inside a list": (
        "core.v1.Pod", {"spec": {"containers": [{"name": "c", "image": 1}]}},
        "json: cannot unmarshal number into Go struct field Container.spec.containers.image "
        "of type string",
    ),
    "text for an object": (
        "core.v1.ConfigMap", {"metadata": "x"},
        "json: cannot unmarshal string into Go struct field ConfigMap.metadata "
        "of type v1.ObjectMeta",
    ),
    "number for a value of a map": (
        "core.v1.ConfigMap", {"metadata": {"labels": {"a": 1}}},
        "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels "
        "of type string",
    ),
    "bool for a text": (
        "core.v1.ConfigMap", {"data": {"a": True}},
        "json: cannot unmarshal bool into Go struct field ConfigMap.data of type string",
    ),
    "object for a list": (
        "core.v1.Pod", {"spec": {"containers": {}}},
        "json: cannot unmarshal object into Go struct field PodSpec.spec.containers "
        "of type []v1.Container",
    ),
    "array for a map": (
        "core.v1.Pod", {"spec": {"nodeSelector": ["a"]}},
        "json: cannot unmarshal array into Go struct field PodSpec.spec.nodeSelector "
        "of type map[string]string",
    ),
    "a fraction for an integer": (
        "apps.v1.Deployment", {"spec": {"replicas": 1.5}},
        "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas "
        "of type int32",
    ),
    "an integer that does not fit": (
        "apps.v1.Deployment", {"spec": {"replicas": 2**31}},
        "json: cannot unmarshal number 2147483648 into Go struct field "
        "DeploymentSpec.spec.replicas of type int32",
    ),
    "number for a text with a type of its own": (
        "core.v1.Pod", {"spec": {"restartPolicy": 1}},
        "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy "
        "of type v1.RestartPolicy",
    ),
    "a malformed quantity wins over an earlier mistake": (
        "core.v1.Pod",
        {"spec": {"nodeName": 1, "containers": [{"resources": {"limits": {"cpu": "x y"}}}]}},
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    "a bool for a quantity": (
        "core.v1.Pod", {"spec": {"overhead": {"cpu": True}}},
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    "not base64": (
        "core.v1.Secret", {"data": {"a": "*"}}, "illegal base64 data at input byte 0",
    ),
    "base64 without padding": (
        "core.v1.Secret", {"data": {"a": "YQ"}}, "illegal base64 data at input byte 0",
    ),
    "base64 with something after its padding": (
        "core.v1.Secret", {"data": {"a": "YQ=a"}}, "illegal base64 data at input byte 2",
    ),
    "base64 that goes on after its end": (
        "core.v1.Secret", {"data": {"a": "YQ==YQ=="}}, "illegal base64 data at input byte 4",
    ),
    "not a time": (
        "core.v1.Pod", {"status": {"startTime": "yesterday"}},
        'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" '
        'as "2006"',
    ),
    "no such month": (
        "core.v1.Pod", {"status": {"startTime": "2025-13-01T00:00:00Z"}},
        'parsing time "2025-13-01T00:00:00Z": month out of range',
    ),
    "a micro time wants six digits": (
        "coordination.v1.Lease", {"spec": {"renewTime": "2025-01-01T00:00:00Z"}},
        'parsing time "2025-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": '
        'cannot parse "Z" as ".000000"',
    ),
    "number for a time": (
        "core.v1.Pod", {"status": {"startTime": 5}},
        "json: cannot unmarshal number into Go struct field PodStatus.status.startTime "
        "of type string",
    ),
    "bool for a number or text": (
        "apps.v1.Deployment", {"spec": {"strategy": {"rollingUpdate": {"maxSurge": True}}}},
        "json: cannot unmarshal bool into Go struct field "
        "RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
    ),
    "a field of an embedded struct": (
        "core.v1.Pod", {"spec": {"volumes": [{"name": "v", "configMap": {"name": 1}}]}},
        "json: cannot unmarshal number into Go struct field ConfigMapVolumeSource.spec.volumes."
        "VolumeSource.configMap.LocalObjectReference.name of type string",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("model", "tree", "want"), TYPE_MISTAKES.values(), ids=TYPE_MISTAKES)
def test_a_wrong_type_is_refused_in_the_words_of_go(
    structure: Find, model: str, tree: Any, want: str
) -> None:
    assert type_mistake(structure(model), copy.deepcopy(tree)) == want


def test_the_refusal_names_the_kind_and_the_version_without_its_group(structure: Find) -> None:
    tree = {"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replicas": "3"}}

    with pytest.raises(BadRequest) as refusal:
        decode_check(structure("apps.v1.Deployment"), tree, kind="Deployment", version="v1")

    assert refusal.value.message == (
        'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal '
        "string into Go struct field DeploymentSpec.spec.replicas of type int32"
    )


def test_unknown_fields_are_dropped_and_told_in_the_order_of_the_document(structure: Find) -> None:
    container = {"name": "c", "foo": 1, "imagePullPolice": "x"}
    tree = {"spec": {"containers": [container], "bar": {}}, "Kind": "Pod"}

    findings = decode_check(structure("core.v1.Pod"), tree, kind="Pod", version="v1")

    assert findings.unknown == (
        "spec.containers[0].foo", "spec.containers[0].imagePullPolice", "spec.bar", "Kind",
    )  # fmt: skip
    assert tree == settled(structure("core.v1.Pod"), {"spec": {"containers": [{"name": "c"}]}})


def test_duplicates_are_told_before_unknown_fields() -> None:
    findings = Findings(unknown=("a",), duplicates=("b.c",))

    assert findings.texts() == ['duplicate field "b.c"', 'unknown field "a"']
    assert Findings().texts() == []


def test_schemas_inside_definitions_are_looked_into_but_leniently_in_places() -> None:
    models = Models(recorded.schemas())
    apiextensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
    structure = models.structure(f"{apiextensions}.JSONSchemaProps")
    tree = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string", "tipe": 1}, "x": 1}},
        "additionalProperties": True,
        "default": {"anything": [1]},
    }

    findings = type_mistake(structure, tree)

    assert isinstance(findings, Findings)
    assert findings.unknown == ("properties.a.x",)
    assert tree["properties"] == {"a": {"type": "array", "items": {"type": "string"}}}
    assert tree["additionalProperties"] is True


def test_an_object_that_nests_without_end_is_refused(structure: Find) -> None:
    models = Models(recorded.schemas())
    apiextensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
    tree: dict[str, Any] = {}
    for _ in range(2000):
        tree = {"not": tree}

    assert type_mistake(models.structure(f"{apiextensions}.JSONSchemaProps"), tree) == (
        "exceeded max depth"
    )


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5) | st.sampled_from([TIME, "1Gi", "YQ==", "50%"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["metadata", "labels", "name", "spec", "containers", "image", "resources", "limits",
             "cpu", "ports", "containerPort", "volumes", "emptyDir", "status", "startTime", "x"]
        ),
        inner, max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(tree=st.dictionaries(st.sampled_from(["metadata", "spec", "status", "x"]), trees))
def test_settling_twice_changes_nothing_and_any_tree_is_read_or_refused(tree: Any) -> None:
    pod = Models(recorded.schemas()).structure("io.k8s.api.core.v1.Pod")
    if isinstance(type_mistake(pod, tree), str):
        return
    once = copy.deepcopy(tree)

    assert type_mistake(pod, tree) == Findings()
    assert tree == once


@pytest.mark.shared
def test_recorded_objects_are_already_in_the_form_the_server_writes(
    cases: list[dict[str, Any]],
) -> None:
    models = Models(recorded.schemas())
    names = recorded.model_names()
    changed = {}
    for case in cases:
        tree = case["response"].get("body")
        if not isinstance(tree, dict) or (case.get("compare") or {}).get("pick"):
            continue
        group, _, version = str(tree.get("apiVersion")).rpartition("/")
        model = names.get((group, version, tree.get("kind", "")))
        if model is None or tree["kind"] in ("Status", "Table") or "items" in tree:
            continue
        text = json.dumps(tree).replace("<TIME>", TIME).replace('"<NODEPORT>"', "30000")
        tree = json.loads(text.replace("<MICROTIME>", "2025-01-02T03:04:05.000000Z"))
        before = copy.deepcopy(tree)
        if type_mistake(models.structure(model), tree) != Findings() or tree != before:
            changed[case["id"]] = tree

    assert changed == {}


def test_single_fields_are_settled_as_in_the_whole(structure: Find) -> None:
    pod = structure("core.v1.Pod")
    status = {"conditions": [{"type": "Ready", "status": "True", "message": ""}], "podIP": ""}
    whole, part = {"status": copy.deepcopy(status)}, {"status": copy.deepcopy(status)}
    settled(pod, whole)

    assert settle_fields(pod, part, ("status",))
    assert part["status"] == whole["status"]


@pytest.mark.parametrize(
    "status",
    [None, {}, {"podIP": 1}, {"noSuchField": 1}, []],
    ids=["null", "empty", "type", "field", "list"],
)
def test_a_field_that_needs_the_whole_object_says_so(structure: Find, status: Any) -> None:
    assert not settle_fields(structure("core.v1.Pod"), {"status": status}, ("status",))
