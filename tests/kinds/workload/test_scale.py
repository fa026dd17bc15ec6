from __future__ import annotations

import pytest
from tests.kinds.answers import answers, play

from windtunnel.kinds.workload.scale import (
    NoSuchPath,
    custom_scale_of,
    set_custom_replicas,
    set_replicas,
    validate_scale,
)
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("scale"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)


WIDGET: Tree = {
    "metadata": {"name": "w", "namespace": "n", "uid": "u"},
    "spec": {"size": 3},
    "status": {"size": 2, "selector": "app=w"},
}
PATHS: Tree = {
    "specReplicasPath": ".spec.size",
    "statusReplicasPath": ".status.size",
    "labelSelectorPath": ".status.selector",
}


def test_a_custom_resource_is_scaled_by_its_paths() -> None:
    scale = custom_scale_of(WIDGET, PATHS)

    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "app=w"}


def test_a_missing_number_of_replicas_is_refused() -> None:
    with pytest.raises(NoSuchPath, match=r'the spec replicas field ".spec.size" does not exist'):
        custom_scale_of({"metadata": {}, "spec": {}}, PATHS)


def test_replicas_are_written_where_the_path_says() -> None:
    tree: Tree = {"metadata": {}}
    set_custom_replicas(tree, PATHS, {"spec": {"replicas": 7}})

    assert tree["spec"] == {"size": 7}


def test_a_scale_may_not_be_negative() -> None:
    assert [str(found) for found in validate_scale({"spec": {"replicas": -4}})] == [
        "spec.replicas: Invalid value: -4: must be greater than or equal to 0"
    ]


def test_scaling_to_zero_is_said() -> None:
    tree: Tree = {"spec": {"replicas": 3}}
    set_replicas(tree, {"spec": {}})

    assert tree["spec"]["replicas"] == 0
