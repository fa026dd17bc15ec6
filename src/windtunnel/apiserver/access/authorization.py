"""Judges requests: masters may do all, nodes what nodes do, the rest what roles and bindings grant.

A node may do what ClusterRole ``system:node`` says to every object there, not only to those of its
own pods. Also judges what is granted: nobody may give away rights that they do not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final, NamedTuple

from windtunnel.apiserver.access.authentication import MASTERS
from windtunnel.apiserver.access.rbac import GROUP, Asked, Rbac, Rule, covers, quoted
from windtunnel.apiserver.routes import Route
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import Forbidden, details_of

_NODES: Final = "system:nodes"
_NODE_PREFIX: Final = "system:node:"
_NODE_ROLE: Final = "system:node"
_PROXY_ROLE: Final = "system:node-proxier"


class Permission(NamedTuple):
    """Whether something is allowed, and why."""

    allowed: bool
    reason: str = ""


def asked_by(route: Route) -> Asked:
    """Say in terms of rights what a route asks for."""
    if not route.is_resource:
        return Asked(route.verb, path=route.path)
    return Asked(
        route.verb, route.group, route.resource, route.subresource, route.namespace, route.name
    )


def refusal(user: User, asked: Asked, why: str = "") -> Forbidden:
    """Return the error that tells a user what they may not do."""
    tail = f": {why}" if why else ""
    if asked.path:
        return Forbidden(
            f'forbidden: User "{user.name}" cannot {asked.verb} path "{asked.path}"{tail}',
            details={},
        )
    scope = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    return Forbidden.of(
        asked.resource,
        asked.group,
        asked.name,
        f'User "{user.name}" cannot {asked.verb} resource "{asked.full_resource}" '
        f'in API group "{asked.group}" {scope}{tail}',
    )


class Authorizer:
    """Decides by group first, by roles then."""

    def __init__(self, rbac: Rbac) -> None:
        self._rbac = rbac

    def decide(self, user: User, asked: Asked) -> Permission:
        """Judge one request; a refusal's reason names roles that are missing."""
        if MASTERS in user.groups:
            return Permission(True)
        if self._is_node(user) and any(covers(rule, asked) for rule in self._of_nodes()):
            return Permission(True)
        grant, missing = self._rbac.find(user, asked)
        if grant is not None:
            return Permission(True, grant.reason())
        if missing:
            text = missing[0] if len(missing) == 1 else f"[{', '.join(missing)}]"
            return Permission(False, f"RBAC: {text}")
        return Permission(False)

    def require(self, user: User, asked: Asked) -> None:
        """Refuse what is not allowed.

        Raises:
            Forbidden: It is not.
        """
        decision = self.decide(user, asked)
        if not decision.allowed:
            raise refusal(user, asked, decision.reason)

    def held(self, user: User, namespace: str) -> list[Rule]:
        """Return the rules a user holds in a namespace."""
        own = self._of_nodes() if self._is_node(user) else ()
        return [*own, *self._rbac.held(user, namespace)]

    @staticmethod
    def _is_node(user: User) -> bool:
        return _NODES in user.groups and user.name.startswith(_NODE_PREFIX)

    def _of_nodes(self) -> tuple[Rule, ...]:
        own = self._rbac.rules_of("ClusterRole", "", _NODE_ROLE) or ()
        # The node carries connections to services itself; nobody else does.
        return (*own, *(self._rbac.rules_of("ClusterRole", "", _PROXY_ROLE) or ()))

    def require_impersonation(self, user: User, wanted: User, asked: Asked) -> None:
        """Refuse to act as somebody else without the right to.

        The right is ``impersonate`` on everything the wanted identity consists of, or the pair
        of constrained rights that v1.36 added: to be this user, and to do this as them.

        Raises:
            Forbidden: Neither is held.
        """
        parts = list(_identity(wanted))
        if all(self.decide(user, part).allowed for part in parts):
            return
        mode = "serviceaccount" if parts[0].resource == "serviceaccounts" else "user-info"
        self.require(user, asked._replace(verb=f"impersonate-on:{mode}:{asked.verb}"))
        for part in parts:
            self.require(
                user, part._replace(verb=f"impersonate:{mode}", group="authentication.k8s.io")
            )

    def require_no_escalation(
        self, user: User, rules: Iterable[Rule], namespace: str, resource: str, name: str
    ) -> None:
        """Refuse to grant rights that the user does not hold.

        Args:
            user: Who grants.
            rules: What the role would grant.
            namespace: Where it would hold; "" for everywhere.
            resource: The plural that is written, for the error.
            name: Its object, for the error.

        Raises:
            Forbidden: Some are not held; the message lists them.
        """
        if MASTERS in user.groups:
            return
        held = self.held(user, namespace)
        missing = [
            part
            for rule in rules
            for part in _broken_down(rule)
            if not any(_contains(owned, part) for owned in held)
        ]
        if missing:
            lines = "\n".join(sorted({str(rule) for rule in _compacted(missing)}))
            raise Forbidden(
                f'{resource}.{GROUP} "{name}" is forbidden: user "{user.name}" '
                f"(groups={quoted(user.groups)}) is attempting to grant RBAC permissions not "
                f"currently held:\n{lines}",
                details=details_of(GROUP, resource, name),
            )


def _identity(wanted: User) -> Iterator[Asked]:
    if wanted.name.startswith("system:serviceaccount:"):
        _, _, namespace, name = [*wanted.name.split(":", 3), "", ""][:4]
        yield Asked("impersonate", "", "serviceaccounts", namespace=namespace, name=name)
    else:
        yield Asked("impersonate", "", "users", name=wanted.name)
    implied = ("system:authenticated", "system:serviceaccounts")
    for group in wanted.groups:
        if not group.startswith(implied):
            yield Asked("impersonate", "", "groups", name=group)
    if wanted.uid:
        yield Asked("impersonate", "authentication.k8s.io", "uids", name=wanted.uid)
    for key, values in wanted.extra.items():
        for value in values:
            yield Asked("impersonate", "authentication.k8s.io", "userextras", key, name=value)


def _broken_down(rule: Rule) -> Iterator[Rule]:
    """Yield the rule as rules of one verb on one thing each."""
    for verb, group, resource in product(rule.verbs, rule.api_groups, rule.resources):
        for name in rule.resource_names or ("",):
            yield Rule((verb,), (group,), (resource,), (name,) if name else ())
    for verb, url in product(rule.verbs, rule.non_resource_urls):
        yield Rule((verb,), non_resource_urls=(url,))


def _within(values: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return "*" in values or all(value in values for value in wanted)


def _contains(owned: Rule, part: Rule) -> bool:
    if not _within(owned.verbs, part.verbs):
        return False
    if part.non_resource_urls:
        url = part.non_resource_urls[0]
        return any(
            known in ("*", url) or (known.endswith("*") and url.startswith(known[:-1]))
            for known in owned.non_resource_urls
        )
    if not _within(owned.api_groups, part.api_groups):
        return False
    resource = part.resources[0]
    subresource = resource.partition("/")[2]
    if not _within(owned.resources, part.resources) and not (
        subresource and f"*/{subresource}" in owned.resources
    ):
        return False
    if not owned.resource_names:
        return True
    return bool(part.resource_names) and part.resource_names[0] in owned.resource_names


def _compacted(rules: list[Rule]) -> list[Rule]:
    """Join the verbs of rules that speak of the same thing."""
    verbs: dict[Rule, list[str]] = {}
    for rule in rules:
        thing = Rule(
            (), rule.api_groups, rule.resources, rule.resource_names, rule.non_resource_urls
        )
        known = verbs.setdefault(thing, [])
        known.extend(verb for verb in rule.verbs if verb not in known)
    return [
        Rule(
            tuple(found),
            thing.api_groups,
            thing.resources,
            thing.resource_names,
            thing.non_resource_urls,
        )
        for thing, found in verbs.items()
    ]
