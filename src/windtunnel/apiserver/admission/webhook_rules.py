"""Which writes a webhook's rules match, and where a webhook of a Service is to be called."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.machinery.admission import Petition
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.store import Store

_SLICES: Final = "endpointslices.discovery.k8s.io"
_SERVICE_LABEL: Final = "kubernetes.io/service-name"


def matches_rules(hook: Tree, petition: Petition) -> bool:
    """Whether one of the webhook's rules matches a write."""
    return any(_matches(rule, petition) for rule in hook.get("rules") or ())


def _matches(rule: Tree, petition: Petition) -> bool:
    act = petition.act
    if not _within(rule.get("operations"), petition.act.operation):
        return False
    if not _within(rule.get("apiGroups"), act.group):
        return False
    if not _within(rule.get("apiVersions"), act.version):
        return False
    scope = rule.get("scope") or "*"
    if scope != "*" and (scope == "Namespaced") is not _in_namespace(petition):
        return False
    return any(_names(pattern, petition) for pattern in rule.get("resources") or ())


def _in_namespace(petition: Petition) -> bool:
    return petition.act.namespaced


def _within(values: Any, wanted: str) -> bool:
    return bool(values) and ("*" in values or wanted in values)


def _names(pattern: str, petition: Petition) -> bool:
    resource, _, subresource = pattern.partition("/")
    if resource not in ("*", petition.act.plural):
        return False
    return subresource in ("*", petition.act.subresource)


def service_url(store: Store, service: Tree) -> tuple[str, str]:
    """Return where a webhook's Service is reached, and the name its certificate must bear.

    There is no service network: the first ready endpoint is called itself.
    """
    namespace, name = service.get("namespace", ""), service.get("name", "")
    port, path = service.get("port") or 443, service.get("path") or ""
    server_name = f"{name}.{namespace}.svc"
    path = f"/{path.lstrip('/')}" if path else ""
    address = _endpoint(store, namespace, name, port)
    return f"https://{address or f'{server_name}:{port}'}{path}", server_name


def _endpoint(store: Store, namespace: str, name: str, port: int) -> str:
    found = store.get("services", Key(namespace, name))
    if found is None:
        return ""
    ports = dig(found.tree(), "spec", "ports") or []
    wanted = next((each for each in ports if each.get("port") == port), None)
    if wanted is None:
        return ""
    for version in store.list(_SLICES, namespace):
        if version.labels.get(_SERVICE_LABEL) != name:
            continue
        tree = version.tree()
        target = next(
            (
                each.get("port")
                for each in tree.get("ports") or ()
                if (each.get("name") or "") == (wanted.get("name") or "")
            ),
            None,
        )
        for endpoint in tree.get("endpoints") or ():
            if dig(endpoint, "conditions", "ready") is not False and endpoint.get("addresses"):
                return f"{endpoint['addresses'][0]}:{target}"
    return ""
