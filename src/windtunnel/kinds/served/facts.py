"""How kinds differ in ways that no schema says: generation, PUT, DELETE, field selectors.

One table for each fact, by resource. Source: kube-apiserver v1.36.3, measured (spec of the API,
sections 5 and 6); what is not listed has the default of ``Kind``.
"""

from __future__ import annotations

from typing import Final, Literal

GENERATION: Final[dict[str, Literal["spec", "custom"]]] = {
    "pods": "spec",
    "replicationcontrollers": "spec",
    "podtemplates": "custom",
    "deployments.apps": "spec",
    "replicasets.apps": "spec",
    "statefulsets.apps": "spec",
    "daemonsets.apps": "spec",
    "jobs.batch": "spec",
    "cronjobs.batch": "spec",
    "poddisruptionbudgets.policy": "spec",
    "ingresses.networking.k8s.io": "spec",
    "ingressclasses.networking.k8s.io": "spec",
    "networkpolicies.networking.k8s.io": "spec",
    "priorityclasses.scheduling.k8s.io": "spec",
    "endpointslices.discovery.k8s.io": "custom",
    "deviceclasses.resource.k8s.io": "spec",
    "resourceslices.resource.k8s.io": "spec",
    "flowschemas.flowcontrol.apiserver.k8s.io": "spec",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": "spec",
    "customresourcedefinitions.apiextensions.k8s.io": "spec",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": "custom",
    "validatingwebhookconfigurations.admissionregistration.k8s.io": "custom",
    "mutatingadmissionpolicies.admissionregistration.k8s.io": "spec",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": "spec",
    "validatingadmissionpolicies.admissionregistration.k8s.io": "spec",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": "spec",
}

CREATES_ON_PUT: Final = frozenset({
    "services", "limitranges", "events", "endpoints", "events.events.k8s.io",
    "leases.coordination.k8s.io", "runtimeclasses.node.k8s.io",
    "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
})  # fmt: skip

NEEDS_REVISION_ON_PUT: Final = frozenset({
    "leases.coordination.k8s.io", "runtimeclasses.node.k8s.io", "csinodes.storage.k8s.io",
    "csidrivers.storage.k8s.io", "csistoragecapacities.storage.k8s.io",
    "volumeattachments.storage.k8s.io", "poddisruptionbudgets.policy",
    "apiservices.apiregistration.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
})  # fmt: skip

ANSWERS_DELETED_OBJECT: Final = frozenset({
    "namespaces", "services", "pods", "serviceaccounts", "persistentvolumeclaims",
    "persistentvolumes", "resourcequotas", "podtemplates",
    "storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io",
    "volumeattachments.storage.k8s.io", "volumeattributesclasses.storage.k8s.io",
    "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io",
    "deviceclasses.resource.k8s.io", "resourceslices.resource.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
})  # fmt: skip

DEFAULT_PROPAGATION: Final = {"jobs.batch": "Orphan", "replicationcontrollers": "Orphan"}

UPDATE_AND_WHOLE: Final = (1, 1)
METADATA_ON_UPDATE: Final[dict[str, tuple[int, int]]] = {
    **dict.fromkeys(
        (
            "pods", "nodes", "namespaces", "serviceaccounts", "secrets", "configmaps",
            "endpoints", "persistentvolumeclaims",
            "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
            "clusterroles.rbac.authorization.k8s.io",
            "clusterrolebindings.rbac.authorization.k8s.io",
        ),
        UPDATE_AND_WHOLE,
    ),
    "limitranges": (0, 1),
    "persistentvolumes": (0, 2),
}  # fmt: skip
"""How often a kind's own update judges metadata: as a change, and as on a create.

The registry has judged it both ways before, so one mistake shows as several causes. Kinds that are
not listed judge it once, as a change.
"""

DEPRECATED: Final = {
    "componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
    "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}

_REGARDING: Final = (
    "kind",
    "namespace",
    "name",
    "uid",
    "apiVersion",
    "resourceVersion",
    "fieldPath",
)

FIELD_LABELS: Final[dict[str, frozenset[str]]] = {
    "pods": frozenset({
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs",
        "status.nominatedNodeName",
    }),
    "nodes": frozenset({"spec.unschedulable"}),
    "namespaces": frozenset({"status.phase"}),
    "secrets": frozenset({"type"}),
    "services": frozenset({"spec.clusterIP", "spec.type"}),
    "replicationcontrollers": frozenset({"status.replicas"}),
    "events": frozenset(
        {f"involvedObject.{part}" for part in _REGARDING}
        | {"reason", "reportingComponent", "source", "type"}
    ),
    "events.events.k8s.io": frozenset(
        {f"regarding.{part}" for part in _REGARDING} | {"reason", "reportingController", "type"}
    ),
    "jobs.batch": frozenset({"status.successful"}),
    "resourceslices.resource.k8s.io": frozenset({"spec.nodeName", "spec.driver"}),
    "certificatesigningrequests.certificates.k8s.io": frozenset({"spec.signerName"}),
}  # fmt: skip

NO_SUCH_FIELD_LABEL: Final = (
    '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'
)
_PLAINLY_REFUSED: Final = "field label not supported: {label}"

UNKNOWN_FIELD_LABEL: Final = {
    **dict.fromkeys(FIELD_LABELS, _PLAINLY_REFUSED),
    "jobs.batch": 'field label "{label}" not supported for Job',
    "resourceslices.resource.k8s.io": (
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {label}"
    ),
}
