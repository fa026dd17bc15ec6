from __future__ import annotations

from windtunnel.kinds.pod.pods import RULES
from windtunnel.kinds.served.kind import Context
from windtunnel.machinery.tree import Tree

NOW = Context(now=0.0)


def pod(**spec: object) -> Tree:
    return {
        "metadata": {"name": "p", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "x"}], **spec},
    }


def test_a_new_pod_is_pending_and_whatever_its_writer_said_of_its_status_is_forgotten() -> None:
    tree = {**pod(), "status": {"phase": "Running", "podIP": "1.2.3.4"}}

    RULES.prepare_create(tree, NOW)

    assert tree["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_gates_are_told_by_a_condition() -> None:
    tree = pod(schedulingGates=[{"name": "g"}])

    RULES.prepare_create(tree, NOW)

    (condition,) = tree["status"]["conditions"]
    assert condition["reason"] == "SchedulingGated"
    assert condition["lastTransitionTime"] == "1970-01-01T00:00:00Z"


def test_label_keys_become_conditions_on_this_pods_labels() -> None:
    constraint = {"labelSelector": {}, "matchLabelKeys": ["app", "missing"]}
    tree = pod(topologySpreadConstraints=[constraint])

    RULES.prepare_create(tree, NOW)

    assert constraint["labelSelector"] == {
        "matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]
    }


def test_an_update_keeps_the_status_and_a_status_write_the_owners() -> None:
    old = {**pod(), "status": {"phase": "Running", "qosClass": "Burstable"}}
    old["metadata"]["ownerReferences"] = [{"uid": "u"}]
    new = {**pod(), "status": {"phase": "Failed"}}

    RULES.prepare_status(new, old, NOW)
    assert new["metadata"]["ownerReferences"] == [{"uid": "u"}]
    assert new["status"] == {"phase": "Failed", "qosClass": "Burstable"}

    RULES.prepare_update(new, old, NOW)
    assert new["status"]["phase"] == "Running"


def test_one_address_and_the_list_of_addresses_stay_alike() -> None:
    single = {**pod(), "status": {"podIP": "1.2.3.4"}}
    listed = {**pod(), "status": {"podIPs": [{"ip": "1.2.3.4"}]}}

    RULES.default(single)
    RULES.default(listed)

    assert single["status"] == listed["status"]
    assert RULES.selectable(single)["status.podIP"] == "1.2.3.4"
