from typing import Any

import pytest
from tests.world import World

from windtunnel.controllers.garbage.collector import Owners, decide
from windtunnel.machinery.tree import Key, Tree

ONE: list[Tree] = [{"uid": "u"}]
VERDICTS = {
    "a living owner keeps it": (Owners(solid=ONE), False, [], "keep"),
    "dead references beside a living owner are dropped": (
        Owners(solid=ONE, dangling=ONE),
        False,
        [],
        "drop",
    ),
    "no owner is left": (Owners(dangling=ONE), False, [], "Background"),
    "its own finalizer says how": (Owners(dangling=ONE), False, ["orphan"], "Orphan"),
    "an owner waits and it has dependents itself": (Owners(waiting=ONE), True, [], "Foreground"),
    "an owner waits and it has none": (Owners(waiting=ONE), False, [], "Background"),
}


@pytest.mark.parametrize(
    ("owners", "dependents", "finalizers", "want"), VERDICTS.values(), ids=VERDICTS.keys()
)
def test_what_becomes_of_a_dependent(
    owners: Owners, dependents: bool, finalizers: list[str], want: str
) -> None:
    assert decide(owners, dependents, finalizers) == want


def owned(world: World, name: str, *owners: str, block: bool = False, **more: Any) -> None:
    references = []
    for owner in owners:
        metadata = world.get("configmaps", owner)["metadata"]
        references.append(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner,
                "uid": metadata["uid"],
                "blockOwnerDeletion": block,
            }
        )
    world.create("configmaps", name, metadata={"ownerReferences": references, **more})


def left(world: World) -> set[str]:
    world.run(2)
    return set(world.names("configmaps")) - {"kube-root-ca.crt"}


def delete(world: World, name: str, propagation: str) -> None:
    world.client.delete("configmaps", Key("default", name), propagation=propagation)


def test_a_chain_goes_with_its_first_owner(world: World) -> None:
    world.create("configmaps", "a")
    owned(world, "b", "a")
    owned(world, "c", "b")
    delete(world, "a", "Background")

    assert left(world) == set()


def test_one_of_two_owners_is_enough(world: World) -> None:
    world.create("configmaps", "a")
    world.create("configmaps", "b")
    owned(world, "c", "a", "b")
    delete(world, "a", "Background")

    assert left(world) == {"b", "c"}
    (reference,) = world.get("configmaps", "c")["metadata"]["ownerReferences"]
    assert reference["name"] == "b"


def test_an_orphaning_owner_leaves_its_dependents_alone(world: World) -> None:
    world.create("configmaps", "a")
    for number in range(50):
        owned(world, f"c{number}", "a")
    delete(world, "a", "Orphan")

    assert len(left(world)) == 50
    assert "ownerReferences" not in world.get("configmaps", "c7")["metadata"]


def test_a_foreground_owner_waits_for_what_blocks_it(world: World) -> None:
    world.create("configmaps", "a")
    owned(world, "b", "a", block=True, finalizers=["example.com/hold"])
    delete(world, "a", "Foreground")
    assert left(world) == {"a", "b"}

    world.client.patch("configmaps", Key("default", "b"), {"metadata": {"finalizers": None}})

    assert left(world) == set()


def test_a_circle_of_waiting_owners_is_broken(world: World) -> None:
    world.create("configmaps", "a")
    owned(world, "b", "a", block=True)
    uid = world.get("configmaps", "b")["metadata"]["uid"]
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "b",
        "uid": uid,
        "blockOwnerDeletion": True,
    }
    patch = {"metadata": {"ownerReferences": [reference]}}
    world.client.patch("configmaps", Key("default", "a"), patch)
    delete(world, "a", "Foreground")

    assert left(world) == set()


def test_an_owner_of_the_same_name_but_another_uid_does_not_count(world: World) -> None:
    world.create("configmaps", "a")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "somebody-else"}
    world.create("configmaps", "b", metadata={"ownerReferences": [reference]})

    assert left(world) == {"a"}


def test_an_owner_in_another_namespace_is_told_of_and_does_not_count(world: World) -> None:
    world.create("namespaces", "other", "")
    world.create("configmaps", "a")
    uid = world.get("configmaps", "a")["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid}
    world.create("configmaps", "b", "other", metadata={"ownerReferences": [reference]})
    world.run(2)

    assert "b" not in world.names("configmaps", "other")
    text = (
        f"ownerRef [v1/ConfigMap, namespace: other, name: a, uid: {uid}] "
        'does not exist in namespace "other"'
    )
    assert ("OwnerRefInvalidNamespace", text) in world.events()


def test_a_dependent_of_an_unknown_kind_is_kept(world: World) -> None:
    reference = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "u"}
    world.create("configmaps", "b", metadata={"ownerReferences": [reference]})

    assert left(world) == {"b"}
