from __future__ import annotations

import pytest
from tests.apiserver.api import Api

from windtunnel.apiserver.access.rbac import Asked, Rbac, Rule, covers
from windtunnel.machinery.admission import User

PODS = Rule(("get", "list"), ("",), ("pods",))
CASES = {
    "the verb and the thing": (PODS, Asked("get", "", "pods"), True),
    "another verb": (PODS, Asked("delete", "", "pods"), False),
    "another group": (PODS, Asked("get", "apps", "pods"), False),
    "a subresource is another thing": (PODS, Asked("get", "", "pods", "log"), False),
    "a named subresource": (
        Rule(("get",), ("",), ("pods/log",)),
        Asked("get", "", "pods", "log"),
        True,
    ),
    "any subresource of that name": (
        Rule(("get",), ("*",), ("*/scale",)),
        Asked("get", "apps", "x", "scale"),
        True,
    ),
    "everything": (Rule(("*",), ("*",), ("*",)), Asked("x", "y", "z", "w"), True),
    "one name": (
        Rule(("get",), ("",), ("pods",), ("p",)),
        Asked("get", "", "pods", name="p"),
        True,
    ),
    "another name": (
        Rule(("get",), ("",), ("pods",), ("p",)),
        Asked("get", "", "pods", name="q"),
        False,
    ),
    "a path": (
        Rule(("get",), non_resource_urls=("/healthz",)),
        Asked("get", path="/healthz"),
        True,
    ),
    "a path by prefix": (
        Rule(("get",), non_resource_urls=("/apis/*",)),
        Asked("get", path="/apis/apps"),
        True,
    ),
    "another path": (
        Rule(("get",), non_resource_urls=("/healthz",)),
        Asked("get", path="/x"),
        False,
    ),
}


@pytest.mark.parametrize(("rule", "asked", "want"), CASES.values(), ids=CASES)
def test_what_a_rule_covers(rule: Rule, asked: Asked, want: bool) -> None:
    assert covers(rule, asked) is want


def test_a_rule_prints_as_the_real_server_prints_it() -> None:
    assert (
        str(Rule(("*",), ("",), ("pods",))) == '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'
    )


def test_lists_of_a_rule_may_be_null() -> None:
    assert Rule.of({"verbs": None, "apiGroups": [""]}) == Rule((), ("",))


def test_a_grant_counts_for_the_next_request(api: Api, ns: str) -> None:
    rbac = Rbac(api.store)
    user = User("u", ("g",))
    asked = Asked("get", "", "configmaps", namespace="ns")
    assert rbac.find(user, asked) == (None, [])

    root = f"/apis/rbac.authorization.k8s.io/v1{ns.removeprefix('/api/v1')}"
    bind(api, root, "Role", "missing")
    assert rbac.find(user, asked)[1] == ['role.rbac.authorization.k8s.io "missing" not found']

    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
    api.post(f"{root}/roles", {**meta("Role", "missing"), "rules": rules})
    grant, _ = rbac.find(user, asked)
    assert grant is not None
    assert grant.reason() == ('RBAC: allowed by RoleBinding "b/ns" of Role "missing" to Group "g"')


def meta(kind: str, name: str) -> dict[str, object]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
    }


def bind(api: Api, root: str, kind: str, role: str) -> None:
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "Group", "name": "g", "apiGroup": group}
    reference = {"apiGroup": group, "kind": kind, "name": role}
    body = {**meta("RoleBinding", "b"), "subjects": [subject], "roleRef": reference}
    api.post(f"{root}/rolebindings", body)
