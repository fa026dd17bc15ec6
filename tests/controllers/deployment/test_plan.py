from collections.abc import Iterable
from typing import Any

import msgspec

from windtunnel.controllers.deployment.plan import Plan, decide
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.views import ReplicaSetView, find_condition

NOW = 1_800_000_000.0


RUNNING = {"replicas": 4, "updatedReplicas": 4, "readyReplicas": 4, "availableReplicas": 4}


def deployment(
    replicas: int = 4, image: str = "app:2", status: dict[str, int] | None = None, **spec: Any
) -> DeploymentView:
    tree = {
        "metadata": {"name": "web", "namespace": "ns", "uid": "u", "generation": 1},
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 1,
            "selector": {"matchLabels": {"app": "a"}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1},
            },
            "template": {"spec": {"containers": [{"image": image}]}},
            **spec,
        },
        "status": status or {},
    }
    return msgspec.json.decode(msgspec.json.encode(tree), type=DeploymentView)


def replica_set(
    name: str, image: str, replicas: int, revision: int, desired: int = 4, **status: Any
) -> ReplicaSetView:
    prefix = "deployment.kubernetes.io/"
    notes = {"revision": revision, "desired-replicas": desired, "max-replicas": desired + 1}
    tree = {
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": f"2027-01-15T08:00:0{revision}Z",
            "annotations": {prefix + key: str(value) for key, value in notes.items()},
        },
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"image": image}]}}},
        "status": {"replicas": replicas, "availableReplicas": replicas, **status},
    }
    return msgspec.json.decode(msgspec.json.encode(tree), type=ReplicaSetView)


def plan(one: DeploymentView, *sets: ReplicaSetView, left: bool = False) -> Plan:
    def old_pods_left(uids: Iterable[str]) -> bool:
        return left

    return decide(one, sets, old_pods_left, NOW)


def moves(found: Plan) -> list[tuple[str, int]]:
    return [(name, patch["spec"]["replicas"]) for name, patch in found.patches if "spec" in patch]


def reason(found: Plan) -> str:
    assert found.status is not None
    condition = find_condition(found.status.conditions, "Progressing")
    return condition.reason if condition is not None else ""


def test_a_new_template_makes_a_set_as_large_as_the_surge_and_room_for_it() -> None:
    one = deployment(status=RUNNING)
    found = plan(one, replica_set("old", "app:1", 4, 1, readyReplicas=4))

    assert found.create is not None
    assert found.create["spec"]["replicas"] == 1
    assert found.revision == "2"
    assert reason(found) == "NewReplicaSetCreated"
    assert moves(found) == [("old", 3)]


def test_growing_comes_before_shrinking() -> None:
    sets = replica_set("old", "app:1", 3, 1), replica_set("new", "app:2", 1, 2)

    assert moves(plan(deployment(), *sets)) == [("new", 2)]


def test_a_changed_size_is_spread_before_anything_is_rolled() -> None:
    sets = replica_set("old", "app:1", 3, 1), replica_set("new", "app:2", 2, 2)
    found = plan(deployment(replicas=8), *sets)

    assert found.create is None
    assert sum(size for _, size in moves(found)) == 9


def test_a_paused_rollout_makes_no_set() -> None:
    found = plan(deployment(paused=True), replica_set("old", "app:1", 4, 1))

    assert (found.create, moves(found)) == (None, [])
    assert reason(found) == "DeploymentPaused"


def test_recreate_waits_until_the_last_old_pod_is_gone() -> None:
    one = deployment(strategy={"type": "Recreate"})
    old = replica_set("old", "app:1", 0, 1)

    assert plan(one, old, left=True).create is None
    found = plan(one, old)
    assert found.create is not None
    assert found.create["spec"]["replicas"] == 4


def test_recreate_first_stops_everything() -> None:
    found = plan(deployment(strategy={"type": "Recreate"}), replica_set("old", "app:1", 4, 1))

    assert (found.create, moves(found)) == (None, [("old", 0)])
    assert found.events == ["Scaled down replica set old from 4 to 0"]


def test_history_is_cut_once_the_rollout_is_complete() -> None:
    sets = [replica_set(f"old{n}", f"app:0{n}", 0, n) for n in (3, 1, 2)]
    sets.append(replica_set("new", "app:2", 4, 4))
    complete = deployment(status={**RUNNING, "observedGeneration": 1})

    assert plan(complete, *sets).remove == ["old1", "old2"]
    assert plan(deployment(), *sets).remove == []


def test_a_deployment_that_goes_is_only_counted() -> None:
    tree = msgspec.structs.replace(
        deployment(),
        metadata=msgspec.structs.replace(
            deployment().metadata, deletion_timestamp="2027-01-15T08:00:00Z"
        ),
    )
    found = plan(tree, replica_set("old", "app:1", 4, 1))

    assert (found.create, found.patches, found.events) == (None, [], [])
    assert found.status is not None
    assert found.status.replicas == 4
