"""The plugins in their order: whoever adds one writes it here."""

from __future__ import annotations

from windtunnel.apiserver.access.authorization import Authorizer
from windtunnel.apiserver.access.rbac import Rbac
from windtunnel.apiserver.admission.chain import Plugin
from windtunnel.apiserver.admission.extended_resource_toleration import (
    ExtendedResourceToleration,
)
from windtunnel.apiserver.admission.limit_ranger import LimitRanger
from windtunnel.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from windtunnel.apiserver.admission.node_taints import TaintNodesByCondition
from windtunnel.apiserver.admission.pod_security import PodSecurity
from windtunnel.apiserver.admission.priority import Priority
from windtunnel.apiserver.admission.resource_quota import ResourceQuota
from windtunnel.apiserver.admission.role_escalation import RoleEscalation
from windtunnel.apiserver.admission.runtime_class import RuntimeClass
from windtunnel.apiserver.admission.service_account import ServiceAccount
from windtunnel.apiserver.admission.service_addresses import ServiceAddresses
from windtunnel.apiserver.admission.storage import DefaultStorageClass, StorageProtection
from windtunnel.apiserver.admission.toleration_seconds import DefaultTolerationSeconds
from windtunnel.apiserver.admission.unenforced_policies import UnenforcedPolicies
from windtunnel.apiserver.admission.webhooks import Webhooks
from windtunnel.store import Store


def plugins(
    store: Store,
    authorizer: Authorizer,
    rbac: Rbac,
    *,
    service_range: str,
    extended_resource_toleration: bool = False,
) -> list[Plugin]:
    """Return the plugins of a cluster, in order; quota comes last, for it counts."""
    return [
        RoleEscalation(authorizer, rbac),
        NamespaceLifecycle(store),
        LimitRanger(store),
        ServiceAccount(store),
        TaintNodesByCondition(),
        PodSecurity(store),
        Priority(store),
        DefaultTolerationSeconds(),
        *([ExtendedResourceToleration()] if extended_resource_toleration else []),
        DefaultStorageClass(store),
        StorageProtection(),
        RuntimeClass(store),
        ServiceAddresses(store, service_range),
        UnenforcedPolicies(),
        Webhooks(store),
        ResourceQuota(store),
    ]
