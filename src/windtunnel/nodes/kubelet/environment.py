"""The environment of a container: what its spec names, and where services are.

Source: kubelet v1.36. Later entries win over earlier ones, the container's own over those of whole
ConfigMaps and Secrets, and both over the services'.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.expansion import expand
from windtunnel.nodes.kubelet.fields import field_value, resource_value
from windtunnel.nodes.kubelet.pod_spec import pod_key


class ConfigurationMissing(Exception):
    """Something that a container's environment needs is not there (yet)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Where the values of variables come from."""

    config_map: Callable[[str, str], Tree | None]
    """From namespace and name."""
    secret: Callable[[str, str], Tree | None]
    services: Mapping[str, str]
    node_address: str
    address: str
    allocatable: Mapping[str, str]


def environment(pod: Tree, container: Tree, lookup: Lookup) -> dict[str, str]:
    """Return the variables of a container.

    Raises:
        ConfigurationMissing: a ConfigMap, a Secret or a key is not there.
    """
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        found |= _whole(pod, source, lookup)
    for entry in container.get("env") or ():
        value = _value(pod, container, entry, found, lookup)
        if value is not None:
            found[entry["name"]] = value
    return {**{name: text for name, text in lookup.services.items() if name not in found}, **found}


def _whole(pod: Tree, source: Tree, lookup: Lookup) -> dict[str, str]:
    prefix = str(source.get("prefix") or "")
    for kind, fetch in (("configMapRef", lookup.config_map), ("secretRef", lookup.secret)):
        reference = source.get(kind)
        if reference is None:
            continue
        word = "secret" if kind == "secretRef" else "configmap"
        tree = _fetch(pod, reference, fetch, word)
        values = _texts(tree, word) if tree is not None else {}
        return {prefix + key: values[key] for key in sorted(values) if "=" not in key}
    return {}


def _value(
    pod: Tree, container: Tree, entry: Tree, known: Mapping[str, str], lookup: Lookup
) -> str | None:
    """Return what a variable is; None for one that is optional and not there."""
    source = entry.get("valueFrom")
    if source is None:
        return expand(str(entry.get("value") or ""), {**lookup.services, **known})
    try:
        if source.get("fieldRef") is not None:
            path = str(source["fieldRef"]["fieldPath"])
            return field_value(pod, path, node_address=lookup.node_address, address=lookup.address)
        if source.get("resourceFieldRef") is not None:
            return resource_value(pod, container, source["resourceFieldRef"], lookup.allocatable)
    except ValueError as wrong:
        raise ConfigurationMissing(str(wrong)) from None
    if source.get("configMapKeyRef") is not None:
        return _key(pod, source["configMapKeyRef"], lookup.config_map, "configmap", "ConfigMap")
    if source.get("secretKeyRef") is not None:
        return _key(pod, source["secretKeyRef"], lookup.secret, "secret", "Secret")
    return None


def _key(
    pod: Tree,
    reference: Tree,
    fetch: Callable[[str, str], Tree | None],
    word: str,
    kind: str,
) -> str | None:
    tree = _fetch(pod, reference, fetch, word)
    if tree is None:
        return None
    values = _texts(tree, word)
    key = str(reference.get("key") or "")
    if key in values:
        return values[key]
    if reference.get("optional"):
        return None
    place = f"{pod_key(pod).namespace}/{reference.get('name')}"
    raise ConfigurationMissing(f"couldn't find key {key} in {kind} {place}")


def _fetch(
    pod: Tree, reference: Tree, fetch: Callable[[str, str], Tree | None], word: str
) -> Tree | None:
    name = str(reference.get("name") or "")
    tree = fetch(pod_key(pod).namespace, name)
    if tree is None and not reference.get("optional"):
        raise ConfigurationMissing(f'{word} "{name}" not found')
    return tree


def _texts(tree: Tree, word: str) -> dict[str, str]:
    values = {str(key): str(text) for key, text in (tree.get("data") or {}).items()}
    if word == "configmap":
        return values
    return {
        key: base64.b64decode(text).decode("utf-8", "surrogateescape")
        for key, text in values.items()
    }
