"""Which admission plugins can be switched, by the names that kube-apiserver's flags have for them.

Source: kube-apiserver v1.36, ``--enable-admission-plugins``.
"""

from __future__ import annotations

from typing import Final

DEFAULT_PLUGINS: Final = frozenset(
    {
        "DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger",
        "MutatingAdmissionWebhook", "NamespaceLifecycle", "PodSecurity", "Priority",
        "ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection",
        "TaintNodesByCondition", "ValidatingAdmissionWebhook",
    }
)  # fmt: skip
"""On unless they are switched off."""
OPTIONAL_PLUGINS: Final = frozenset({"ExtendedResourceToleration"})
"""Off unless they are switched on."""
