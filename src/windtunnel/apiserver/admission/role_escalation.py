"""Nobody grants what they do not hold: writes of roles and bindings are judged by their author."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.access.authorization import Authorizer
from windtunnel.apiserver.access.rbac import GROUP, Asked, Rbac, Rule
from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.errors import NotFound

_ROLES: Final = ("roles", "clusterroles")


class RoleEscalation:
    """Judges what a role or binding would grant."""

    def __init__(self, authorizer: Authorizer, rbac: Rbac) -> None:
        self._authorizer, self._rbac = authorizer, rbac

    def concerns(self, act: Act) -> bool:
        """Writes of roles and bindings."""
        return act.group == GROUP and act.operation in ("CREATE", "UPDATE")

    def judge(self, petition: Petition) -> None:
        """Refuse a grant of what the author lacks."""
        if petition.trusted or petition.new is None:
            return
        if petition.act.plural in _ROLES:
            self._judge_role(petition)
        else:
            self._judge_binding(petition)

    def _may(self, petition: Petition, verb: str, resource: str, name: str) -> bool:
        asked = Asked(verb, GROUP, resource, namespace=petition.namespace, name=name)
        return self._authorizer.decide(petition.user, asked).allowed

    def _judge_role(self, petition: Petition) -> None:
        new, old = petition.new or {}, petition.old
        if old is not None and old.get("rules") == new.get("rules"):
            return
        if self._may(petition, "escalate", petition.act.plural, petition.name):
            return
        rules = [Rule.of(rule) for rule in new.get("rules") or ()]
        self._authorizer.require_no_escalation(
            petition.user, rules, petition.namespace, petition.act.plural, petition.name
        )

    def _judge_binding(self, petition: Petition) -> None:
        new, old = petition.new or {}, petition.old
        same = ("roleRef", "subjects")
        if old is not None and all(old.get(field) == new.get(field) for field in same):
            return
        role = new.get("roleRef") or {}
        kind, name = role.get("kind", ""), role.get("name", "")
        if self._may(petition, "bind", f"{kind.lower()}s", name):
            return
        rules = self._rbac.rules_of(kind, petition.namespace, name)
        if rules is None:
            raise NotFound.of(f"{kind.lower()}s", GROUP, name)
        self._authorizer.require_no_escalation(
            petition.user, rules, petition.namespace, petition.act.plural, petition.name
        )
