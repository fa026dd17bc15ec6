from typing import Any

import pytest

from windtunnel.nodes.played.language import Scene, compile_template, compile_tests

TREE = {
    "phase": "Running",
    "ready": True,
    "notes": {"name": "b", "code": "7"},
    "list": [{"name": "a"}, {"name": "b"}],
}
SCENE = Scene(TREE, {"now": "12:00"})

TESTS: dict[str, tuple[Any, bool]] = {
    "one of": ({"phase": ["Pending", "Running"]}, True),
    "none of": ({"phase": {"not": ["Running"]}}, False),
    "none of, where there is nothing": ({"missing": {"not": ["x"]}}, True),
    "a boolean is spelled": ({"ready": ["true"]}, True),
    "exists": ({"phase": "exists", "missing": "exists"}, False),
    "absent": ({"missing": "absent"}, True),
    "any of several values": ({"list[*].name": ["b"]}, True),
    "the same": ({"notes.name": {"same": "list[b].name"}}, True),
    "the same as nothing": ({"notes.name": {"same": "missing"}}, True),
    "not the same": ({"notes.name": {"same": "list[a].name"}}, False),
    "no tests at all": ({}, True),
}


@pytest.mark.parametrize(("tests", "want"), TESTS.values(), ids=TESTS.keys())
def test_a_test(tests: Any, want: bool) -> None:
    assert compile_tests(tests)(TREE) is want


RENDERINGS: dict[str, tuple[Any, Any]] = {
    "plain values stay": ({"a": 1, "b": ["x", None]}, {"a": 1, "b": ["x"]}),
    "a path": ("$phase", "Running"),
    "a name": ("$now", "12:00"),
    "a dollar": ("$$5", "$5"),
    "what is missing is left out": ({"a": "$missing", "b": ["$missing", "x"]}, {"b": ["x"]}),
    "the first that gives something": ({"$first": ["$missing", "$phase", "x"]}, "Running"),
    "each": ({"$each": "list", "$give": {"n": "$item.name"}}, [{"n": "a"}, {"n": "b"}]),
    "each of nothing": ({"x": {"$each": "missing", "$give": "$item"}}, {}),
    "a choice": ({"$if": {"phase": ["Running"]}, "$then": "y", "$else": "n"}, "y"),
    "a choice without another": ({"a": {"$if": {"phase": ["x"]}, "$then": "y"}}, {}),
    "a choice by item": (
        {
            "$each": "list",
            "$give": {"$if": {"item.name": {"same": "notes.name"}}, "$then": "y", "$else": "n"},
        },
        ["n", "y"],
    ),
    "lists are joined": (
        {"$join": [["a"], {"$each": "list", "$give": "$item.name"}]},
        ["a", "a", "b"],
    ),
    "text becomes a number": ({"$number": "$notes.code"}, 7),
    "no number": ({"a": {"$number": "$phase"}}, {}),
}


@pytest.mark.parametrize(("template", "want"), RENDERINGS.values(), ids=RENDERINGS.keys())
def test_a_template(template: Any, want: Any) -> None:
    assert compile_template(template)(SCENE) == want


def test_each_rendering_is_a_fresh_tree() -> None:
    render = compile_template({"a": {"b": ["x"]}})
    render(SCENE)["a"]["b"].append("changed")

    assert render(SCENE) == {"a": {"b": ["x"]}}


@pytest.mark.parametrize(
    "form", [{"$what": 1}, {"$each": "list"}, {"$if": {}}, {"$first": [], "more": 1}]
)
def test_an_unknown_form_is_refused(form: Any) -> None:
    with pytest.raises(ValueError, match="unknown form"):
        compile_template(form)


@pytest.mark.parametrize("wanted", ["sometimes", 1, {"same": 1}, {"is": []}])
def test_an_unknown_test_is_refused(wanted: Any) -> None:
    with pytest.raises(ValueError, match="a test is"):
        compile_tests({"a": wanted})
