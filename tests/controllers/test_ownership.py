from collections.abc import Callable
from typing import Any, cast

import pytest

from windtunnel.client import Client
from windtunnel.client.cache import Cache
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.ownership import PodOwners, PodOwnership, claim
from windtunnel.controllers.views import (
    Metadata,
    OwnerReference,
    PodView,
    ReplicaSetSpec,
    ReplicaSetView,
    Selector,
)
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree

OWNER: Tree = {
    "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "mine",
    "controller": True, "blockOwnerDeletion": True,
}  # fmt: skip
KEY = Key("ns", "p")


class Patches:
    """Keeps the patches it is asked for; ``gone`` makes them fail."""

    def __init__(self, *, gone: bool = False) -> None:
        self.gone = gone
        self.sent: list[Tree] = []

    def patch(self, resource: str, key: Key, patch: Tree) -> Tree:
        if self.gone:
            raise NotFound.of(resource, "", key.name)
        self.sent.append(patch["metadata"])
        return {}


def metadata(matches: bool, manager: str = "", **more: Any) -> Metadata:
    references = ()
    if manager:
        references = (OwnerReference("apps/v1", "ReplicaSet", "x", manager, controller=True),)
    labels = {"app": "a"} if matches else {}
    return Metadata(name="p", uid="u", labels=labels, owner_references=references, **more)


CLAIMS = {
    "ours and matching": (metadata(True, "mine"), True, 0),
    "ours but matching no more": (metadata(False, "mine"), False, 1),
    "nobody's and matching": (metadata(True), True, 1),
    "nobody's and not matching": (metadata(False), False, 0),
    "nobody's but going": (metadata(True, deletion_timestamp="2027-01-15T08:00:00Z"), False, 0),
    "somebody else's": (metadata(True, "other"), False, 0),
}


def claimed(patches: Patches, one: Metadata, *, owner_deleting: bool = False) -> bool:
    return bool(
        claim(
            cast(Client, patches), "pods", [(KEY, one)], OWNER, owner_deleting,
            lambda labels: labels.get("app") == "a",
        )
    )  # fmt: skip


@pytest.mark.parametrize(("one", "ours", "writes"), CLAIMS.values(), ids=CLAIMS.keys())
def test_what_belongs_to_an_owner(one: Metadata, ours: bool, writes: int) -> None:
    patches = Patches()

    assert claimed(patches, one) is ours
    assert len(patches.sent) == writes


def test_an_adopted_object_names_its_owner_beside_others() -> None:
    patches = Patches()
    other = OwnerReference("v1", "Node", "n", "n-uid")
    claimed(patches, Metadata(name="p", uid="u", labels={"app": "a"}, owner_references=(other,)))

    kept = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "n-uid"}
    assert patches.sent == [{"uid": "u", "ownerReferences": [kept, OWNER]}]


def test_an_owner_that_goes_adopts_and_releases_nothing() -> None:
    patches = Patches()

    assert not claimed(patches, metadata(True), owner_deleting=True)
    assert not claimed(patches, metadata(False, "mine"), owner_deleting=True)
    assert patches.sent == []


def test_what_has_vanished_meanwhile_is_not_ours() -> None:
    assert not claimed(Patches(gone=True), metadata(True))


class Owners:
    """Two ReplicaSets in one namespace, of which one selects everything."""

    def by(self, index: str, value: str) -> list[tuple[Key, ReplicaSetView]]:
        assert (index, value) == ("namespace", "ns")
        picky = Selector(match_labels={"app": "web"})
        return [
            (Key("ns", name), ReplicaSetView(Metadata(), ReplicaSetSpec(selector=selector)))
            for name, selector in (("adopter", Selector()), ("picky", picky))
        ]


class Pods:
    """Lets a test say what changed."""

    def __init__(self) -> None:
        self.tell: Callable[[Key, PodView | None, PodView | None], None] = lambda *_: None

    def on_change(self, tell: Callable[[Key, PodView | None, PodView | None], None]) -> None:
        self.tell = tell


def test_pods_are_followed_to_the_owners_they_have_had() -> None:
    pods, visits = Pods(), list[str]()
    cache = cast("Cache[PodView]", pods)
    ownership = PodOwnership(
        cast("Client", Patches()), cache, cast("Cache[Any]", Owners()), "apps/v1", "ReplicaSet"
    )
    PodOwners(cache).follow(
        ownership, Expectations(VirtualClock()), lambda key: visits.append(key.name)
    )

    def pod(owner: str, kind: str = "ReplicaSet", **labels: str) -> PodView:
        reference = OwnerReference("apps/v1", kind, owner, owner, controller=True)
        references = (reference,) if owner else ()
        return PodView(Metadata(name="p", labels=labels, owner_references=references))

    pods.tell(KEY, None, pod("a"))
    pods.tell(KEY, pod("a"), pod("b"))
    pods.tell(KEY, pod("b"), None)
    pods.tell(KEY, None, pod(""))
    pods.tell(KEY, None, pod("j", "Job"))

    assert visits == ["a", "a", "b", "b", "adopter"]

    visits.clear()
    pods.tell(KEY, pod("j", "Job"), pod(""))
    pods.tell(KEY, pod(""), pod(""))
    pods.tell(KEY, pod(""), pod("", tier="web"))

    assert visits == ["adopter", "adopter"], "a status is nothing to those who adopt"
