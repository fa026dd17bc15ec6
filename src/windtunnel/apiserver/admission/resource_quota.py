"""Quotas: a create that would exceed one is refused; one that passes is counted at once.

The counts live in the quota's status; a controller corrects them when objects go or shrink. A quota
whose status has never been computed does not block. Source: ResourceQuota plugin, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from windtunnel.apiserver.verbs.objects import touch
from windtunnel.kinds.rules.quota_usage import Usage, matches_scopes, unstated, usage_of
from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.quantity import ZERO, Quantity, parse
from windtunnel.machinery.tree import Tree
from windtunnel.store import Store

_QUOTAS: Final = "resourcequotas"


class ResourceQuota:
    """Judges and counts by the quotas of a namespace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, act: Act) -> bool:
        """Creates of whatever can be counted, and updates of claims and services."""
        if not act.namespaced or act.subresource or act.resource == "events":
            return False
        grows = act.resource in ("persistentvolumeclaims", "services")
        return act.operation == "CREATE" or (act.operation == "UPDATE" and grows)

    def judge(self, petition: Petition) -> None:
        """Refuse what no quota has room for, else count it."""
        if petition.new is None or not self._store.count(_QUOTAS, petition.namespace):
            return
        delta = usage_of(petition.act, petition.new)
        if petition.old is not None:
            before = usage_of(petition.act, petition.old)
            delta = {name: value - before.get(name, ZERO) for name, value in delta.items()}
            delta = {name: value for name, value in delta.items() if value.nanos}
        changed = []
        for version in self._store.list(_QUOTAS, petition.namespace):
            quota = version.tree()
            if self._charge(petition, quota, delta):
                changed.append((version, quota))
        if petition.dry_run:
            return
        for version, quota in changed:
            touch(self._store, version, quota)

    def _charge(self, petition: Petition, quota: Tree, delta: Usage) -> bool:
        """Add the delta to the quota's status where it counts; say whether it does.

        Raises:
            Forbidden: There is no room, or the pod does not state what the quota counts.
        """
        status = quota.get("status") or {}
        hard: Mapping[str, Any] = status.get("hard") or {}
        spec = quota.get("spec") or {}
        if petition.new is None or not matches_scopes(petition.act, petition.new, spec):
            return False
        counted = {name: value for name, value in delta.items() if name in hard}
        name = quota["metadata"]["name"]
        if petition.act.resource == "pods" and petition.act.operation == "CREATE":
            missing = unstated(petition.new, hard)
            if missing:
                raise petition.refusal(f"failed quota: {name}: must specify {missing}")
        if not counted:
            return False
        used = {key: parse(value) for key, value in (status.get("used") or {}).items()}
        total = {key: used.get(key, ZERO) + value for key, value in counted.items()}
        over = sorted(
            key
            for key, value in total.items()
            if parse(hard[key]) < value and counted[key].nanos > 0
        )
        if over:
            raise petition.refusal(
                f"exceeded quota: {name}, requested: {_listed(over, counted)}, "
                f"used: {_listed(over, used)}, "
                f"limited: {_listed(over, {key: parse(hard[key]) for key in over})}",
            )
        quota["status"] = {
            **status,
            "used": {**(status.get("used") or {}), **{key: str(v) for key, v in total.items()}},
        }
        return True


def _listed(names: list[str], values: Mapping[str, Quantity]) -> str:
    return ",".join(f"{name}={values.get(name, ZERO)}" for name in names)
