"""Nobody grants what they do not hold: writes of roles and bindings are judged by their author."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.access.authorization import Authorizer
from windtunnel.apiserver.access.rbac import GROUP, Asked, Rbac, Rule
from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery.errors import NotFound

_ROLES: Final = ("roles", "clusterroles")


class RoleEscalation:
    """Judges what a role or binding would grant."""

    def __init__(self, authorizer: Authorizer, rbac: Rbac) -> None:
        self._authorizer, self._rbac = authorizer, rbac

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Writes of roles and bindings."""
        return kind.group == GROUP and operation in ("CREATE", "UPDATE")

    def mutate(self, attempt: Attempt) -> None:
        """Change nothing."""

    def judge(self, attempt: Attempt) -> None:
        """Refuse a grant of what the author lacks."""
        if attempt.call.trusted or attempt.new is None:
            return
        if attempt.kind.plural in _ROLES:
            self._judge_role(attempt)
        else:
            self._judge_binding(attempt)

    def _may(self, attempt: Attempt, verb: str, resource: str, name: str) -> bool:
        asked = Asked(verb, GROUP, resource, namespace=attempt.namespace, name=name)
        return self._authorizer.decide(attempt.call.user, asked).allowed

    def _judge_role(self, attempt: Attempt) -> None:
        new, old = attempt.new or {}, attempt.old
        if old is not None and old.get("rules") == new.get("rules"):
            return
        if self._may(attempt, "escalate", attempt.kind.plural, attempt.name):
            return
        rules = [Rule.of(rule) for rule in new.get("rules") or ()]
        self._authorizer.require_no_escalation(
            attempt.call.user, rules, attempt.namespace, attempt.kind.plural, attempt.name
        )

    def _judge_binding(self, attempt: Attempt) -> None:
        new, old = attempt.new or {}, attempt.old
        same = ("roleRef", "subjects")
        if old is not None and all(old.get(field) == new.get(field) for field in same):
            return
        role = new.get("roleRef") or {}
        kind, name = role.get("kind", ""), role.get("name", "")
        if self._may(attempt, "bind", f"{kind.lower()}s", name):
            return
        rules = self._rbac.rules_of(kind, attempt.namespace, name)
        if rules is None:
            raise NotFound.of(f"{kind.lower()}s", GROUP, name)
        self._authorizer.require_no_escalation(
            attempt.call.user, rules, attempt.namespace, attempt.kind.plural, attempt.name
        )
