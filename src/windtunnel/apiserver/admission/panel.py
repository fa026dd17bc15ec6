"""The rules in their order: whoever adds one writes it here."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, TypeVar

from windtunnel.apiserver.access.authorization import Authorizer
from windtunnel.apiserver.access.rbac import Rbac
from windtunnel.apiserver.admission.certificate_requests import CertificateRequests
from windtunnel.apiserver.admission.device_access import DeviceAccess
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
from windtunnel.apiserver.mint import Mint
from windtunnel.apiserver.plugin_names import DEFAULT_PLUGINS
from windtunnel.machinery.admission import Panel
from windtunnel.store import Store

R = TypeVar("R")
_NONE: Final = Panel()


def builtin_panel(
    store: Store,
    authorizer: Authorizer,
    rbac: Rbac,
    mint: Mint,
    *,
    service_range: str,
    plugins: AbstractSet[str] = DEFAULT_PLUGINS,
    others: Panel = _NONE,
) -> Panel:
    """Return the rules of a cluster.

    ``plugins`` are the names of those that are on; ``others`` come after all built-in ones, but
    before webhooks and quota.
    """

    def on(name: str, rule: R) -> list[R]:
        return [rule] if name in plugins else []

    limits, priority, classes = LimitRanger(store), Priority(store), RuntimeClass(store)
    webhooks = Webhooks(store, mint)
    return Panel(
        mutators=[
            *on("NamespaceLifecycle", NamespaceLifecycle(store)),
            CertificateRequests(),
            DeviceAccess(store),
            *on("LimitRanger", limits),
            *on("ServiceAccount", ServiceAccount(store, mint)),
            *on("TaintNodesByCondition", TaintNodesByCondition()),
            *on("Priority", priority),
            *on("DefaultTolerationSeconds", DefaultTolerationSeconds()),
            *on("ExtendedResourceToleration", ExtendedResourceToleration()),
            *on("DefaultStorageClass", DefaultStorageClass(store)),
            *on("StorageObjectInUseProtection", StorageProtection()),
            *on("RuntimeClass", classes),
            ServiceAddresses(store, service_range),
            *others.mutators,
            *on("MutatingAdmissionWebhook", webhooks),
        ],
        judges=[
            RoleEscalation(authorizer, rbac),
            *on("LimitRanger", limits),
            *on("PodSecurity", PodSecurity(store)),
            *on("Priority", priority),
            *on("RuntimeClass", classes),
            UnenforcedPolicies(),
            *others.judges,
            *on("ValidatingAdmissionWebhook", webhooks),
            # Last, for what it lets pass it counts.
            *on("ResourceQuota", ResourceQuota(store)),
        ],
    )
