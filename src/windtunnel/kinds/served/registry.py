"""The built-in kinds: recorded facts joined with hand-written rules.

What a kind is called, where it is served, which verbs, subresources and columns it has comes from
recorded data; what it defaults, forbids and prints, and how its writes differ from others', comes
from its module. There is no registration at import time: a module exposes

    DECLARATIONS: Final[dict[str, Declared]] = {
        "configmaps": Declared(rules=Rules(default=..., validate_create=..., cells=...)),
    }

keyed by resource (``pods``, ``deployments.apps``; ``x.group/v1`` where one version differs), and
``MODULES`` below lists the modules in order. To serve another kind, write its module and add it.

Validation of an object's own metadata is not a kind's business: ``kinds.rules.metadata``
judges it for all. Shapes are linked at first use, so that start-up stays cheap.
"""

from __future__ import annotations

from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Final

from windtunnel.kinds import (
    componentstatuses,
    configmaps,
    events,
    flowschemas,
    leases,
    limitranges,
    namespaces,
    nodes,
    priorityclasses,
    resourceclaims,
    resourcequotas,
    resourceslices,
    runtimeclasses,
    secrets,
)
from windtunnel.kinds.access import certificatesigningrequests, rolebindings, roles, serviceaccounts
from windtunnel.kinds.extension import (
    admissionpolicies,
    apiservices,
    customresourcedefinitions,
    webhookconfigurations,
)
from windtunnel.kinds.network import (
    endpoints,
    endpointslices,
    ingressclasses,
    ingresses,
    ipaddresses,
    networkpolicies,
    services,
)
from windtunnel.kinds.pod import bindings, pods, template
from windtunnel.kinds.served import recorded
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import NO_FIELD_LABELS, Column, Kind, Subresource
from windtunnel.kinds.storage import (
    csi,
    persistentvolumeclaims,
    persistentvolumes,
    storageclasses,
    volumeattachments,
)
from windtunnel.kinds.workload import (
    controllerrevisions,
    cronjobs,
    daemonsets,
    deployments,
    horizontalpodautoscalers,
    jobs,
    poddisruptionbudgets,
    replicasets,
    replicationcontrollers,
    statefulsets,
)
from windtunnel.machinery.schema import Structure
from windtunnel.machinery.tree import Tree

if TYPE_CHECKING:
    from windtunnel.machinery.schema.models import Models

__all__ = ["MODULES", "builtin_kinds", "structure_of"]

MODULES: Final[tuple[ModuleType, ...]] = (
    bindings,
    componentstatuses,
    configmaps,
    endpoints,
    limitranges,
    namespaces,
    nodes,
    persistentvolumes,
    persistentvolumeclaims,
    replicationcontrollers,
    resourcequotas,
    secrets,
    services,
    serviceaccounts,
    pods,
    template,
    deployments,
    replicasets,
    statefulsets,
    daemonsets,
    controllerrevisions,
    jobs,
    cronjobs,
    horizontalpodautoscalers,
    poddisruptionbudgets,
    roles,
    rolebindings,
    networkpolicies,
    ingresses,
    ingressclasses,
    ipaddresses,
    priorityclasses,
    storageclasses,
    csi,
    volumeattachments,
    leases,
    runtimeclasses,
    endpointslices,
    webhookconfigurations,
    admissionpolicies,
    events,
    apiservices,
    customresourcedefinitions,
    resourceclaims,
    resourceslices,
    certificatesigningrequests,
    flowschemas,
)
"""Every module that declares kinds. A resource may be declared once."""

_NO_SUCH_FIELD_LABEL: Final = "field label not supported: {label}"


@cache
def _models() -> Models:
    # Linked late: a client that only asks for names should not pay for shapes.
    from windtunnel.machinery.schema.models import Models

    return Models({"components": {"schemas": recorded.schemas()}})


@cache
def _structure(group: str, version: str, kind: str) -> Structure:
    return _models().structure(recorded.model_names()[group, version, kind])


def structure_of(group: str, version: str, kind: str) -> Structure:
    """Return the shape of a built-in kind, of those too that are no resources (``Scale``)."""
    return _structure(group, version, kind)


def _declarations() -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for module in MODULES:
        for resource, declared in module.DECLARATIONS.items():
            if resource in found:
                raise ValueError(f"{resource} is declared twice, again in {module.__name__}")
            found[resource] = declared
    return found


def _subresource(tree: Tree, group: str, version: str) -> Subresource:
    spoken = tree["responseKind"]
    return Subresource(
        name=tree["subresource"],
        kind=spoken["kind"],
        group=spoken["group"] or ("" if spoken["version"] else group),
        version=spoken["version"] or version,
        verbs=tuple(tree["verbs"]),
    )


def _kind(
    resource: Tree, group: str, version: str, declared: Declared, columns: list[Tree]
) -> Kind:
    plural, spoken = resource["resource"], resource["responseKind"]
    own_group, own_version = spoken["group"] or group, spoken["version"] or version
    return Kind(
        group=group,
        version=version,
        kind=spoken["kind"],
        plural=plural,
        singular=resource["singularResource"],
        list_kind=spoken["kind"] + "List",
        namespaced=resource["scope"] == "Namespaced",
        short_names=tuple(resource.get("shortNames", ())),
        categories=tuple(resource.get("categories", ())),
        verbs=tuple(resource["verbs"]),
        subresources={
            each["subresource"]: _subresource(each, group, version)
            for each in resource.get("subresources", ())
        },
        structure=partial(_structure, own_group, own_version, spoken["kind"]),
        rules=declared.rules,
        columns=tuple(
            Column(each["name"], each["type"], each["format"], each["priority"]) for each in columns
        ),
        name_rule=declared.name_rule,
        field_labels=declared.field_labels,
        unknown_field_label=declared.unknown_field_label
        or (NO_FIELD_LABELS if not declared.field_labels else _NO_SUCH_FIELD_LABEL),
        stored=declared.stored,
        to_stored=declared.to_stored,
        from_stored=declared.from_stored,
        generation=declared.generation,
        creates_on_put=declared.creates_on_put,
        needs_revision_on_put=declared.needs_revision_on_put,
        delete_answer=declared.delete_answer,
        default_propagation=declared.default_propagation,
        metadata_judged=declared.metadata_judged,
        deprecated=declared.deprecated,
        storage_hash=resource.get("storageVersionHash", ""),
    )


@cache
def builtin_kinds() -> tuple[Kind, ...]:
    """Return every kind of every group version that the real server serves, in its order."""
    declared, columns = _declarations(), recorded.tables()
    undeclared = Declared()
    found = []
    for group in recorded.discovery():
        for version in group["versions"]:
            root = f"/apis/{group['name']}" if group["name"] else "/api"
            for resource in version["resources"]:
                plural = resource["resource"]
                name = f"{plural}.{group['name']}" if group["name"] else plural
                mine = declared.get(f"{name}/{version['version']}") or declared.get(name)
                path = f"{root}/{version['version']}/{plural}"
                found.append(
                    _kind(
                        resource,
                        group["name"],
                        version["version"],
                        mine or undeclared,
                        columns.get(path, []),
                    )
                )
    return tuple(found)
