from __future__ import annotations

from tests.apiserver.api import Api, obj
from windtunnel.machinery.admission import Act, Panel, Petition
from windtunnel.machinery.tree import decode


class OnlyNamed:
    """A rule as another room would write it: it changes, and refuses."""

    def concerns(self, act: Act) -> bool:
        return act.resource == "configmaps" and act.operation == "CREATE"

    def mutate(self, petition: Petition) -> None:
        assert petition.new is not None
        petition.new["metadata"]["labels"] = {"by": petition.user.name}

    def judge(self, petition: Petition) -> None:
        petition.warn("looked at")
        if petition.name == "bad":
            raise petition.refusal("not that name")


def test_rules_of_other_rooms_have_their_say() -> None:
    rule = OnlyNamed()
    api = Api(rules=lambda _: Panel(mutators=[rule], judges=[rule]))
    path = f"{api.namespace()}/configmaps"

    made = api.answer("POST", path, obj("v1", "ConfigMap", "good"))
    assert decode(made.body)["metadata"]["labels"] == {"by": "admin"}
    assert ("warning", '299 - "looked at"') in [(k.lower(), v) for k, v in made.headers]
    assert api.refused("POST", path, obj("v1", "ConfigMap", "bad")) == (
        403, 'configmaps "bad" is forbidden: not that name',
    )  # fmt: skip
