from __future__ import annotations

from windtunnel.kinds.extension.definition_conditions import established_status, terminating_status
from windtunnel.machinery.tree import Tree

NOW = 1_767_225_600.0


def definition(plural: str = "widgets", kind: str = "Widget", **status: object) -> Tree:
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "metadata": {"name": f"{plural}.x.io"},
        "spec": {"group": "x.io", "names": names},
        "status": {"storedVersions": ["v1"], **status},
    }


def condition(status: Tree, kind: str) -> Tree:
    return next(each for each in status["conditions"] if each["type"] == kind)


def test_free_names_are_accepted_and_served() -> None:
    status = established_status(definition(), [], NOW)

    assert status["acceptedNames"]["plural"] == "widgets"
    assert condition(status, "NamesAccepted")["reason"] == "NoConflicts"
    assert condition(status, "Established")["status"] == "True"


def test_a_taken_kind_is_not_served() -> None:
    other = definition("gadgets", "Gadget", acceptedNames={"plural": "gadgets", "kind": "Widget"})
    status = established_status(definition(), [other], NOW)

    assert condition(status, "NamesAccepted")["reason"] == "KindConflict"
    assert condition(status, "NamesAccepted")["message"] == '"Widget" is already in use'
    assert condition(status, "Established")["reason"] == "NotAccepted"


def test_names_in_another_group_are_free() -> None:
    other = definition("gadgets", acceptedNames={"plural": "widgets", "kind": "Widget"})
    other["spec"]["group"] = "y.io"

    assert (
        condition(established_status(definition(), [other], NOW), "Established")["status"] == "True"
    )


def test_looking_again_changes_nothing() -> None:
    tree = definition()
    tree["status"] = established_status(tree, [], NOW)

    assert established_status(tree, [], NOW + 100) == tree["status"]


def test_a_definition_that_goes_says_so() -> None:
    status = terminating_status(definition(), NOW)

    assert condition(status, "Terminating")["reason"] == "InstanceDeletionPending"
