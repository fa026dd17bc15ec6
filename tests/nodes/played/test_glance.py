from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.change import Change
from windtunnel.machinery.tree import Key, Tree, encode
from windtunnel.nodes.played.glance import Glance
from windtunnel.nodes.played.language import compile_tests, paths_of

POD: Tree = {
    "metadata": {"labels": {"a/b": "c"}, "annotations": {"x": "y"}},
    "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}


def changes(tree: Tree) -> list[Change]:
    """A change to this object as it comes from afar, and as it comes within a process."""
    return [
        Change("MODIFIED", Key("ns", "p"), 1, encode(tree), at_hand) for at_hand in (None, tree)
    ]


GLANCES: dict[str, tuple[list[str], Tree, Tree]] = {
    "a value": (["status.phase"], POD, {"status": {"phase": "Running"}}),
    "two values of one map": (
        ["spec.nodeName", "spec.containers"],
        POD,
        {"spec": {"nodeName": "n", "containers": [{"name": "c"}]}},
    ),
    "everything below a bracket": (
        ["metadata.labels[a/b]"],
        POD,
        {"metadata": {"labels": {"a/b": "c"}}},
    ),
    "the shorter of two paths": (
        ["metadata.labels[a/b]", "metadata"],
        POD,
        {"metadata": POD["metadata"]},
    ),
    "nothing there": (["status.reason"], POD, {"status": {}}),
    "null on the way": (["status.phase"], {"status": None}, {"status": None}),
}  # fmt: skip


@pytest.mark.parametrize(("paths", "tree", "want"), GLANCES.values(), ids=GLANCES.keys())
def test_a_glance_shows_what_is_on_its_paths(paths: list[str], tree: Tree, want: Tree) -> None:
    assert [Glance(paths)(change) for change in changes(tree)] == [want, want]


TESTS: list[dict[str, Any]] = [
    {"status.phase": ["Running"]},
    {"status.phase": {"not": ["Running"]}},
    {"metadata.labels[a/b]": "absent"},
    {"status.conditions[Ready].status": ["True"]},
    {"spec.nodeName": {"same": "metadata.annotations[x]"}},
]


@given(
    st.sampled_from(TESTS),
    st.fixed_dictionaries(
        {},
        optional={
            "metadata": st.fixed_dictionaries(
                {}, optional={"labels": st.just({"a/b": "c"}), "annotations": st.just({"x": "n"})}
            ),
            "spec": st.fixed_dictionaries({}, optional={"nodeName": st.sampled_from(["n", "m"])}),
            "status": st.sampled_from([{}, {"phase": "Running"}, POD["status"]]),
        },
    ),
)
def test_tests_hold_on_a_glance_as_on_the_whole(tests: dict[str, Any], tree: Tree) -> None:
    holds = compile_tests(tests)

    for change in changes(tree):
        assert holds(Glance(paths_of(tests))(change)) == holds(tree)
