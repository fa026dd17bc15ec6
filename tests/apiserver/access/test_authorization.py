from __future__ import annotations

import pytest
from tests.apiserver.api import Api

from windtunnel.apiserver.access.authorization import Authorizer, asked_by, refusal
from windtunnel.apiserver.access.rbac import Asked, Rbac, Rule
from windtunnel.apiserver.routes import parse
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import Forbidden

MASTER = User("m", ("system:masters",))
NOBODY = User("n", ("a", "b"))


def test_masters_may_do_all_and_others_what_is_granted(api: Api) -> None:
    authorizer = Authorizer(Rbac(api.store))

    assert authorizer.decide(MASTER, Asked("any", "thing", "at all")).allowed
    assert not authorizer.decide(NOBODY, Asked("get", "", "pods")).allowed


NODE_RIGHTS = {
    "the status of pods": (Asked("patch", "", "pods", "status", "ns", "p"), True),
    "their secrets": (Asked("get", "", "secrets", namespace="ns", name="s"), True),
    "new Deployments": (Asked("create", "apps", "deployments", namespace="ns"), False),
}


@pytest.mark.parametrize(("asked", "allowed"), NODE_RIGHTS.values(), ids=NODE_RIGHTS)
def test_nodes_do_what_nodes_do(api: Api, asked: Asked, allowed: bool) -> None:
    authorizer = Authorizer(Rbac(api.store))

    assert authorizer.decide(User("system:node:n1", ("system:nodes",)), asked).allowed == allowed
    assert not authorizer.decide(User("n1", ("system:nodes",)), asked).allowed


def test_any_authenticated_user_may_discover(api: Api) -> None:
    user = User("u", ("system:authenticated",))

    assert Authorizer(Rbac(api.store)).decide(user, asked_by(parse("GET", "/apis/apps"))).allowed


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            Asked("get", "apps", "deployments", "scale", "ns", "d"),
            'deployments.apps "d" is forbidden: User "n" cannot get resource "deployments/scale" in'
            ' API group "apps" in the namespace "ns"',
        ),
        (
            Asked("list", "", "nodes"),
            'nodes is forbidden: User "n" cannot list resource "nodes" in API group "" at the'
            " cluster scope",
        ),
        (Asked("get", path="/x"), 'forbidden: User "n" cannot get path "/x"'),
    ],
)
def test_a_refusal_says_who_what_and_where(asked: Asked, words: str) -> None:
    assert refusal(NOBODY, asked).message == words


def test_nobody_grants_what_they_do_not_hold(api: Api) -> None:
    authorizer = Authorizer(Rbac(api.store))
    rules = [Rule(("get", "list"), ("",), ("pods",)), Rule(("get",), non_resource_urls=("/x",))]

    with pytest.raises(Forbidden) as refused:
        authorizer.require_no_escalation(NOBODY, rules, "ns", "roles", "r")

    assert refused.value.message == (
        'roles.rbac.authorization.k8s.io "r" is forbidden: user "n" (groups=["a" "b"]) is'
        " attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}\n'
        '{NonResourceURLs:["/x"], Verbs:["get"]}'
    )
    authorizer.require_no_escalation(MASTER, rules, "ns", "roles", "r")


def test_a_role_that_grants_too_much_is_refused(api: Api, ns: str) -> None:
    root = f"/apis/rbac.authorization.k8s.io/v1{ns.removeprefix('/api/v1')}"
    group = "rbac.authorization.k8s.io"
    own = {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": {"name": "r"}}
    rules = [{"apiGroups": [group], "resources": ["roles"], "verbs": ["create"]}]
    api.post(f"{root}/roles", {**own, "rules": rules})
    api.post(
        f"{root}/rolebindings",
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "r"},
            "subjects": [{"kind": "User", "name": "alice", "apiGroup": group}],
        },
    )

    harmless = {**own, "metadata": {"name": "mine"}, "rules": rules}
    assert api.post(f"{root}/roles", harmless, user="alice")["metadata"]["name"] == "mine"
    greedy = {**own, "metadata": {"name": "x"}}
    greedy["rules"] = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]
    code, text = api.refused("POST", f"{root}/roles", greedy, user="alice")
    assert code == 403
    assert "not currently held" in text


def test_impersonation_is_a_right(api: Api) -> None:
    headers = {"impersonate-user": "x", "impersonate-group": "system:masters"}

    assert api.get("/api/v1/pods", headers=headers)["kind"] == "PodList"
    code, text = api.refused("GET", "/api/v1/pods", user="alice", headers=headers)
    assert code == 403
    assert "impersonate-on:user-info:list" in text
