from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kinds.answers import answers, play

from windtunnel.kinds.workload.horizontalpodautoscalers_v1 import copied, cpu_metric, from_v2, to_v2
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("horizontalpodautoscalers_v1"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)


quantities = st.sampled_from(["1", "500m", "2Gi"])
metrics = st.one_of(
    st.builds(
        lambda name, value: {
            "type": "Pods",
            "pods": {
                "metric": {"name": name},
                "target": {"type": "AverageValue", "averageValue": value},
            },
        },
        st.sampled_from(["rps", "lag"]),
        quantities,
    ),
    st.builds(
        lambda value: {
            "type": "Resource",
            "resource": {
                "name": "memory",
                "target": {"type": "AverageValue", "averageValue": value},
            },
        },
        quantities,
    ),
    st.builds(
        lambda value: {
            "type": "External",
            "external": {
                "metric": {"name": "queue", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "Value", "value": value},
            },
        },
        quantities,
    ),
    st.builds(
        lambda value: {
            "type": "Object",
            "object": {
                "metric": {"name": "hits"},
                "describedObject": {"kind": "Ingress", "name": "i"},
                "target": {"type": "Value", "value": value},
            },
        },
        quantities,
    ),
)


@given(st.lists(metrics, min_size=1, max_size=4), st.booleans())
def test_metrics_survive_the_way_through_v1(chosen: list[Tree], behaves: bool) -> None:
    spec: Tree = {"maxReplicas": 3, "metrics": chosen}
    if behaves:
        spec["behavior"] = {"scaleUp": {"selectPolicy": "Max", "policies": []}}
    tree: Tree = {"apiVersion": "autoscaling/v2", "metadata": {"name": "h"}, "spec": spec}

    back = to_v2(from_v2(copied(tree)))

    assert back["spec"] == spec
    assert back["metadata"] == tree["metadata"]


def test_cpu_is_the_one_metric_that_v1_has_a_field_for() -> None:
    tree: Tree = {"metadata": {}, "spec": {"metrics": [cpu_metric(55)]}}

    assert from_v2(tree)["spec"] == {"targetCPUUtilizationPercentage": 55}
