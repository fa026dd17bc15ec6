"""Who may do what: roles and bindings, as the store holds them now.

The index is made from the stored objects at first use and again after any of them changes, so a
grant counts for the very next request. Source: RBAC authorizer of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from windtunnel.machinery.admission import User
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Store, Version

GROUP: Final = "rbac.authorization.k8s.io"
ROLES: Final = f"roles.{GROUP}"
CLUSTER_ROLES: Final = f"clusterroles.{GROUP}"
ROLE_BINDINGS: Final = f"rolebindings.{GROUP}"
CLUSTER_ROLE_BINDINGS: Final = f"clusterrolebindings.{GROUP}"


class Rule(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One PolicyRule."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    @classmethod
    def of(cls, tree: Tree) -> Rule:
        """Return the rule that an object spells; lists may be null."""
        return cls(
            tuple(tree.get("verbs") or ()),
            tuple(tree.get("apiGroups") or ()),
            tuple(tree.get("resources") or ()),
            tuple(tree.get("resourceNames") or ()),
            tuple(tree.get("nonResourceURLs") or ()),
        )

    def __str__(self) -> str:
        """Print the rule as the real server prints what a user lacks."""
        parts = (
            ("APIGroups", self.api_groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.non_resource_urls),
            ("ResourceNames", self.resource_names),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{name}:{quoted(values)}" for name, values in parts if values) + "}"


def quoted(values: Sequence[str]) -> str:
    """Print a list of texts the way Go does: ``["a" "b"]``."""
    return "[" + " ".join(msgspec.json.encode(value).decode() for value in values) + "]"


class Asked(NamedTuple):
    """What somebody wants to do: a verb on a resource, or on a path that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    """Set for requests that name no resource."""

    @property
    def full_resource(self) -> str:
        """``pods`` or ``pods/log``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def covers(rule: Rule, asked: Asked) -> bool:
    """Whether a rule allows what is asked."""
    if asked.verb not in rule.verbs and "*" not in rule.verbs:
        return False
    if asked.path:
        return any(
            known in ("*", asked.path)
            or (known.endswith("*") and asked.path.startswith(known.rstrip("*")))
            for known in rule.non_resource_urls
        )
    if asked.group not in rule.api_groups and "*" not in rule.api_groups:
        return False
    if rule.resource_names and asked.name not in rule.resource_names:
        return False
    full = asked.full_resource
    if "*" in rule.resources or full in rule.resources:
        return True
    return bool(asked.subresource) and f"*/{asked.subresource}" in rule.resources


class Subject(msgspec.Struct, frozen=True):
    """Who a binding grants to."""

    kind: str = ""
    name: str = ""
    namespace: str = ""


class _RoleRef(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Binding(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _Metadata
    role_ref: _RoleRef
    subjects: tuple[Subject, ...] | None = None


_decode_binding = msgspec.json.Decoder(_Binding).decode


class Grant(NamedTuple):
    """A binding that reaches a user, with the rules of its role (None: the role is missing)."""

    binding: _Binding
    subject: Subject
    rules: tuple[Rule, ...] | None

    def reason(self) -> str:
        """Say by which binding this is allowed, as reviews print it."""
        metadata, role, subject = self.binding.metadata, self.binding.role_ref, self.subject
        if metadata.namespace:
            bound = f'RoleBinding "{metadata.name}/{metadata.namespace}"'
        else:
            bound = f'ClusterRoleBinding "{metadata.name}"'
        name = subject.name
        if subject.kind == "ServiceAccount":
            name = f"{subject.name}/{subject.namespace or metadata.namespace}"
        return f'RBAC: allowed by {bound} of {role.kind} "{role.name}" to {subject.kind} "{name}"'


@dataclass(slots=True)
class _Index:
    roles: dict[Key, tuple[Rule, ...]] = field(default_factory=dict)
    cluster_roles: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    bindings: dict[str, list[_Binding]] = field(default_factory=dict)
    """By namespace; "" holds the cluster role bindings."""


def _rules(version: Version) -> tuple[Rule, ...]:
    return tuple(Rule.of(rule) for rule in version.tree().get("rules") or ())


def _applies(subject: Subject, user: User, namespace: str) -> bool:
    if subject.kind == "User":
        return subject.name == user.name
    if subject.kind == "Group":
        return subject.name in user.groups
    if subject.kind == "ServiceAccount":
        home = subject.namespace or namespace
        return user.name == f"system:serviceaccount:{home}:{subject.name}"
    return False


class Rbac:
    """Answers from the store which rules reach a user."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._index: _Index | None = None
        for resource in (ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS):
            store.subscribe(resource, self._forget)

    def _forget(self, _: Any) -> None:
        self._index = None

    def _current(self) -> _Index:
        if self._index is not None:
            return self._index
        index = _Index()
        for version in self._store.list(ROLES):
            index.roles[version.key] = _rules(version)
        for version in self._store.list(CLUSTER_ROLES):
            index.cluster_roles[version.key.name] = _rules(version)
        for resource in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
            for version in self._store.list(resource):
                found = _decode_binding(version.body)
                index.bindings.setdefault(found.metadata.namespace, []).append(found)
        self._index = index
        return index

    def rules_of(self, kind: str, namespace: str, name: str) -> tuple[Rule, ...] | None:
        """Return the rules of a role, or None where there is no such role."""
        index = self._current()
        if kind == "ClusterRole":
            return index.cluster_roles.get(name)
        return index.roles.get(Key(namespace, name))

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """Yield the bindings that reach a user, cluster-wide ones first."""
        index = self._current()
        for home in dict.fromkeys(("", namespace)):
            for binding in index.bindings.get(home, ()):
                for subject in binding.subjects or ():
                    if _applies(subject, user, home):
                        role = binding.role_ref
                        yield Grant(binding, subject, self.rules_of(role.kind, home, role.name))
                        break

    def find(self, user: User, asked: Asked) -> tuple[Grant | None, list[str]]:
        """Return the first grant that allows this, and what could not be resolved on the way."""
        missing = []
        for grant in self.grants(user, asked.namespace):
            if grant.rules is None:
                role = grant.binding.role_ref
                missing.append(f'{role.kind.lower()}.{GROUP} "{role.name}" not found')
                continue
            for rule in grant.rules:
                if covers(rule, asked):
                    return grant, missing
        return None, missing

    def held(self, user: User, namespace: str) -> list[Rule]:
        """Return every rule that a user has in a namespace ("": cluster-wide only)."""
        return [rule for grant in self.grants(user, namespace) for rule in grant.rules or ()]
