"""The environment of a container."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.environment import ConfigurationMissing, Lookup, environment

POD: Tree = {
    "metadata": {"name": "p", "namespace": "d", "uid": "u", "labels": {"a": "b"}},
    "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
}
MAPS: dict[str, Tree] = {"m": {"data": {"k": "v", "a=b": "never"}}}
SECRETS: dict[str, Tree] = {"s": {"data": {"k": base64.b64encode(b"hidden").decode()}}}


def given(**container: Any) -> dict[str, str]:
    lookup = Lookup(
        config_map=lambda namespace, name: MAPS.get(name),
        secret=lambda namespace, name: SECRETS.get(name),
        services={"X_SERVICE_HOST": "10.96.0.9"},
        node_address="127.0.0.1",
        address="10.42.0.5",
        allocatable={"cpu": "2", "memory": "1Gi"},
    )
    return environment(POD, {"name": "c", **container}, lookup)


def source(kind: str, **reference: Any) -> dict[str, Any]:
    return {"env": [{"name": "A", "valueFrom": {kind: reference}}]}


def test_services_are_known_to_everybody() -> None:
    assert given() == {"X_SERVICE_HOST": "10.96.0.9"}


def test_a_value_may_name_what_came_before_it_and_services() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A) $(X_SERVICE_HOST) $(C)"}]

    assert given(env=env)["B"] == "1 10.96.0.9 $(C)"


def test_its_own_variable_wins_over_a_whole_map_and_a_service() -> None:
    found = given(
        envFrom=[{"prefix": "P_", "configMapRef": {"name": "m"}}],
        env=[{"name": "P_k", "value": "own"}, {"name": "X_SERVICE_HOST", "value": "there"}],
    )

    assert found == {"P_k": "own", "X_SERVICE_HOST": "there"}


def test_a_secret_is_decoded() -> None:
    assert given(envFrom=[{"secretRef": {"name": "s"}}])["k"] == "hidden"
    assert given(**source("secretKeyRef", name="s", key="k"))["A"] == "hidden"


FIELDS = {
    "metadata.name": "p", "metadata.namespace": "d", "metadata.uid": "u",
    "metadata.labels['a']": "b", "metadata.annotations['x']": "", "spec.nodeName": "n",
    "status.hostIP": "127.0.0.1", "status.podIP": "10.42.0.5",
}  # fmt: skip


@pytest.mark.parametrize(("path", "want"), FIELDS.items())
def test_a_field_of_the_pod(path: str, want: str) -> None:
    assert given(**source("fieldRef", fieldPath=path))["A"] == want


MISSING = {
    'configmap "x" not found': source("configMapKeyRef", name="x", key="k"),
    'secret "x" not found': {"envFrom": [{"secretRef": {"name": "x"}}]},
    "couldn't find key y in ConfigMap d/m": source("configMapKeyRef", name="m", key="y"),
    "couldn't find key y in Secret d/s": source("secretKeyRef", name="s", key="y"),
    "unsupported fieldPath: spec.x": source("fieldRef", fieldPath="spec.x"),
}


@pytest.mark.parametrize(("message", "container"), MISSING.items(), ids=MISSING.keys())
def test_what_is_missing_is_named(message: str, container: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationMissing) as refused:
        given(**container)

    assert str(refused.value) == message


def test_what_is_optional_may_be_missing() -> None:
    found = given(
        envFrom=[{"configMapRef": {"name": "x", "optional": True}}],
        **source("configMapKeyRef", name="m", key="y", optional=True),
    )

    assert found == {"X_SERVICE_HOST": "10.96.0.9"}
