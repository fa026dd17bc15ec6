"""Reviews: questions about users and rights that are posted like objects but never stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from windtunnel.apiserver.access.authentication import Authenticator
from windtunnel.apiserver.access.authorization import Authorizer
from windtunnel.apiserver.access.rbac import Asked
from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.rendering import answer
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.validation import read_body
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import BadRequest, Invalid
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid

_ONE_OF: Final = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


def _asked(spec: Tree) -> Asked:
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return Asked(path.get("verb") or "", path=path.get("path") or "")
    given = spec.get("resourceAttributes") or {}
    return Asked(
        given.get("verb") or "",
        given.get("group") or "",
        given.get("resource") or "",
        given.get("subresource") or "",
        given.get("namespace") or "",
        given.get("name") or "",
    )


class Reviews:
    """Answers reviews."""

    def __init__(self, authenticator: Authenticator, authorizer: Authorizer) -> None:
        self._authenticator, self._authorizer = authenticator, authorizer
        self._answers: dict[str, Callable[[Call, Tree], None]] = {
            "selfsubjectaccessreviews.authorization.k8s.io": self._own_access,
            "subjectaccessreviews.authorization.k8s.io": self._access,
            "localsubjectaccessreviews.authorization.k8s.io": self._local_access,
            "selfsubjectrulesreviews.authorization.k8s.io": self._rules,
            "tokenreviews.authentication.k8s.io": self._token,
            "selfsubjectreviews.authentication.k8s.io": self._self,
        }

    @property
    def resources(self) -> Iterable[str]:
        """The resources that are reviews."""
        return self._answers

    def handle(self, call: Call) -> Answer:
        """Answer the review in the request's body."""
        tree = read_body(call)
        tree.setdefault("metadata", {})
        self._answers[call.kind.resource](call, tree)
        order = ("kind", "apiVersion", "metadata", "spec", "status")
        made = {field: tree[field] for field in order if field in tree}
        return answer(made, status=201, form=call.form, warnings=call.warnings)

    def _decide(self, call: Call, tree: Tree, user: User) -> None:
        spec = tree.get("spec") or {}
        given = [spec.get("resourceAttributes"), spec.get("nonResourceAttributes")]
        if (given[0] is None) is (given[1] is None):
            why = invalid("spec.resourceAttributes", given[0], _ONE_OF)
            raise _refused(why)
        decision = self._authorizer.decide(user, _asked(spec))
        status: Tree = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        tree["status"] = status

    def _own_access(self, call: Call, tree: Tree) -> None:
        self._decide(call, tree, call.user)

    def _access(self, call: Call, tree: Tree) -> None:
        spec = tree.get("spec") or {}
        if not spec.get("user") and not spec.get("groups"):
            why = "at least one of user or group must be specified"
            raise _refused(invalid("spec.user", "", why))
        extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
        user = User(
            spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "", extra
        )
        self._decide(call, tree, user)

    def _local_access(self, call: Call, tree: Tree) -> None:
        given = ((tree.get("spec") or {}).get("resourceAttributes") or {}).get("namespace") or ""
        if given != call.namespace:
            raise BadRequest(
                f"spec.resourceAttributes.namespace must match namespace: {call.namespace}"
            )
        tree["metadata"]["namespace"] = call.namespace
        self._access(call, tree)

    def _rules(self, call: Call, tree: Tree) -> None:
        namespace = (tree.get("spec") or {}).get("namespace") or ""
        if not namespace:
            raise BadRequest("no namespace on request")
        resources: list[Any] = []
        paths: list[Any] = []
        for rule in self._authorizer.held(call.user, namespace):
            shown: Tree = msgspec.to_builtins(rule)
            if rule.non_resource_urls:
                paths.append({"verbs": shown["verbs"], "nonResourceURLs": shown["nonResourceURLs"]})
            else:
                resources.append(shown)
        tree["spec"] = {}
        tree["status"] = {
            "resourceRules": resources,
            "nonResourceRules": paths,
            "incomplete": False,
        }

    def _token(self, call: Call, tree: Tree) -> None:
        spec = tree.get("spec") or {}
        token, audiences = spec.get("token") or "", list(spec.get("audiences") or ())
        if not token:
            raise BadRequest("token is required for TokenReview in authentication")
        for audience in audiences or [""]:
            user = self._authenticator.by_token(token, call.now, audience)
            if user is None:
                continue
            groups = user.groups
            if "system:authenticated" not in groups:
                groups = (*groups, "system:authenticated")
            known = User(user.name, groups, user.uid, user.extra)
            tree["status"] = {"authenticated": True, "user": known.to_tree()}
            tree["status"]["audiences"] = [audience] if audience else [self._authenticator.issuer]
            return
        tree["status"] = {"user": {}, "error": "invalid bearer token"}

    def _self(self, call: Call, tree: Tree) -> None:
        tree.pop("spec", None)
        tree["metadata"] = {"creationTimestamp": call.timestamp}
        tree["status"] = {"userInfo": call.user.to_tree()}


def _refused(why: Violation) -> Invalid:
    # The real server leaves the kind out here.
    return Invalid("", "authorization.k8s.io", "", [why])
