from __future__ import annotations

import pytest

from windtunnel.kinds.pod.sound import unless_sound
from windtunnel.machinery.tree import Tree


def pod(name: str = "a", volume: str = "", image: str = "i", ephemeral: bool = False) -> Tree:
    source: Tree = {"ephemeral": {}} if ephemeral else {"projected": {}}
    container = {"image": image, "volumeMounts": [{"name": volume}]}
    volumes = [{"name": volume, **source}] if volume else []
    return {"metadata": {"name": name}, "spec": {"containers": [container], "volumes": volumes}}


COPIES = {
    "an equal pod of another name": (pod("a"), pod("b"), True),
    "another token volume": (
        pod("a", "kube-api-access-bcdfg"), pod("b", "kube-api-access-24567"), True,
    ),
    "another spec": (pod(image="i"), pod(image="j"), False),
    "an end that admission never makes": (
        pod("a", "kube-api-access-bcdfg"), pod("a", "kube-api-access-BCDFG"), False,
    ),
    "a volume that is named after the pod": (
        pod("a", "v", ephemeral=True), pod("b", "v", ephemeral=True), False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second", "once"), COPIES.values(), ids=COPIES.keys())
def test_a_copy_of_a_sound_pod_is_not_looked_at(first: Tree, second: Tree, once: bool) -> None:
    seen: list[Tree] = []

    def judge(pod: Tree) -> list[str]:
        seen.append(pod)
        return []

    judged = unless_sound(judge)
    judged(first)
    judged(second)

    assert (len(seen) == 1) is once


def test_a_pod_with_a_fault_is_looked_at_each_time() -> None:
    judged = unless_sound(lambda pod: [pod["metadata"]["name"]])

    assert [judged(pod("a")), judged(pod("b"))] == [["a"], ["b"]]
