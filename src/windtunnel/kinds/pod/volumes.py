"""Volumes of pods: what they are made of, and that each has a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from windtunnel.kinds.pod.env import IN_VOLUME, field_reference, resource_reference
from windtunnel.kinds.pod.paths import unreserved_path
from windtunnel.kinds.rules.checks import each
from windtunnel.kinds.rules.metadata import validate_template_metadata
from windtunnel.kinds.storage.claim_spec import validate_claim_spec
from windtunnel.kinds.storage.volume_sources import (
    ISCSI_TOO_LONG,
    STORAGE_OF_PODS,
    Source,
    iscsi_name_is_long,
    one_source,
)
from windtunnel.machinery import names
from windtunnel.machinery.quantity import parse
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_CONFLICT: Final = "conflicting duplicate paths"
_PULL_POLICIES: Final = ["Always", "IfNotPresent", "Never"]
_LEAST_TOKEN_SECONDS: Final = 600
_MOST_TOKEN_SECONDS: Final = 1 << 32


def validate_volumes(
    volumes: Sequence[Tree], pod_name: str, field: str, *, is_pod: bool
) -> tuple[dict[str, Tree], list[Violation]]:
    """Judge volumes; returns those that are sound, by name, and what is wrong with the rest."""
    good: dict[str, Tree] = {}
    found: list[Violation] = []
    made = {
        f"{pod_name}-{volume.get('name', '')}"
        for volume in volumes
        if pod_name and volume.get("ephemeral") is not None
    }
    for index, volume in enumerate(volumes):
        where, name = f"{field}[{index}]", volume.get("name", "")
        wrong = _volume(volume, name, pod_name, where, is_pod)
        if not name:
            wrong.append(required(f"{where}.name"))
        else:
            wrong += each(names.dns_label(name), f"{where}.name", name)
        if name in good:
            wrong.append(duplicate(f"{where}.name", name))
        if wrong:
            found += wrong
        else:
            good[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if made and claim in made:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            found.append(invalid(f"{where}.persistentVolumeClaim.claimName", claim, text))
    return good, found


def _volume(volume: Tree, name: str, pod_name: str, field: str, is_pod: bool) -> list[Violation]:
    found = one_source(volume, field, _SOURCES_OF_PODS if is_pod else _SOURCES_OF_TEMPLATES)
    if iscsi_name_is_long(volume, name):
        found.append(invalid(f"{field}.name", name, ISCSI_TOO_LONG))
    if volume.get("ephemeral") is not None and pod_name and name:
        claim = f"{pod_name}-{name}"
        texts = [f'PVC name "{claim}": {text}' for text in names.dns_subdomain(claim)]
        found += each(texts, f"{field}.name", name)
    return found


def _empty_dir(source: Tree, field: str) -> list[Violation]:
    limit = source.get("sizeLimit")
    if limit is None or parse(limit).nanos >= 0:
        return []
    text = "SizeLimit field must be a valid resource quantity"
    return [forbidden(f"{field}.sizeLimit", text)]


def _mode(mode: Any, field: str) -> list[Violation]:
    return [] if mode is None or 0 <= mode <= 0o777 else [invalid(field, mode, _MODE)]


def _key_to_path(item: Tree, field: str) -> list[Violation]:
    found = [required(f"{field}.{part}") for part in ("key", "path") if not item.get(part)]
    found += unreserved_path(item.get("path", ""), f"{field}.path")
    return found + _mode(item.get("mode"), f"{field}.mode")


def _keys(source: Tree, name: str, field: str) -> list[Violation]:
    found = [] if source.get(name) else [required(f"{field}.{name}")]
    found += _mode(source.get("defaultMode"), f"{field}.defaultMode")
    for index, item in enumerate(source.get("items") or ()):
        found += _key_to_path(item, f"{field}.items[{index}]")
    return found


def _secret(source: Tree, field: str) -> list[Violation]:
    return _keys(source, "secretName", field)


def _config_map(source: Tree, field: str) -> list[Violation]:
    return _keys(source, "name", field)


def _downward_file(item: Tree, field: str) -> list[Violation]:
    path = item.get("path", "")
    found = [] if path else [required(f"{field}.path")]
    found += unreserved_path(path, f"{field}.path")
    reference, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if reference is not None:
        found += field_reference(reference, IN_VOLUME, f"{field}.fieldRef")
        if resource is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            found.append(invalid(field, "resource", text))
    elif resource is not None:
        found += resource_reference(resource, f"{field}.resourceFieldRef", in_volume=True)
    else:
        found.append(required(field, "one of fieldRef and resourceFieldRef is required"))
    return found + _mode(item.get("mode"), f"{field}.mode")


def _downward_api(source: Tree, field: str) -> list[Violation]:
    found = _mode(source.get("defaultMode"), f"{field}.defaultMode")
    for item in source.get("items") or ():
        found += _downward_file(item, field)
    return found


def _projected(source: Tree, field: str) -> list[Violation]:
    found = _mode(source.get("defaultMode"), f"{field}.defaultMode")
    taken: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        where = f"{field}.sources[{index}]"
        for key in ("secret", "configMap"):
            if (projection := part.get(key)) is not None:
                found += _projected_keys(projection, f"{where}.{key}", field, taken)
        if (projection := part.get("downwardAPI")) is not None:
            for item in projection.get("items") or ():
                found += _downward_file(item, f"{where}.downwardAPI")
                path = item.get("path", "")
                found += _taken(path, path, field, taken)
        if (projection := part.get("serviceAccountToken")) is not None:
            found += _token(projection, f"{where}.serviceAccountToken", field)
        if len(part) > 1:
            text = "may not specify more than 1 volume type per source"
            found.append(forbidden(where, text))
    return found


def _taken(path: str, said: str, field: str, taken: set[str]) -> list[Violation]:
    if not path:
        return []
    if path in taken:
        return [invalid(field, said, _CONFLICT)]
    taken.add(path)
    return []


def _projected_keys(source: Tree, field: str, volume: str, taken: set[str]) -> list[Violation]:
    name = source.get("name", "")
    found = [] if name else [required(f"{field}.name")]
    for index, item in enumerate(source.get("items") or ()):
        found += _key_to_path(item, f"{field}.items[{index}]")
        found += _taken(item.get("path", ""), name, volume, taken)
    return found


def _token(source: Tree, field: str, volume: str) -> list[Violation]:
    seconds, path = source.get("expirationSeconds", 0), source.get("path", "")
    where = f"{field}.expirationSeconds"
    found: list[Violation] = []
    if seconds < _LEAST_TOKEN_SECONDS:
        text = "may not specify a duration less than 10 minutes"
        found.append(invalid(where, seconds, text))
    if seconds > _MOST_TOKEN_SECONDS:
        text = "may not specify a duration larger than 2^32 seconds"
        found.append(invalid(where, seconds, text))
    if not path:
        return [*found, required(f"{volume}.path")]
    return found + unreserved_path(path, f"{volume}.path")


def _ephemeral(source: Tree, field: str) -> list[Violation]:
    template = source.get("volumeClaimTemplate")
    where = f"{field}.volumeClaimTemplate"
    if template is None:
        return [required(where)]
    found = validate_template_metadata(template.get("metadata") or {}, f"{where}.metadata")
    return found + validate_claim_spec(template.get("spec") or {}, f"{where}.spec")


def _image(*, is_pod: bool) -> Any:
    def judge(source: Tree, field: str) -> list[Violation]:
        found: list[Violation] = []
        if is_pod and not source.get("reference"):
            found.append(required(f"{field}.reference"))
        policy = source.get("pullPolicy", "")
        if not policy:
            found.append(required(f"{field}.pullPolicy"))
        elif policy not in _PULL_POLICIES:
            found.append(not_supported(f"{field}.pullPolicy", policy, _PULL_POLICIES))
        return found

    return judge


def _in_order(*, is_pod: bool) -> tuple[Source, ...]:
    """Return all sources in the order in which the real server looks at them."""
    storage = {source[0]: source for source in STORAGE_OF_PODS}
    own: dict[str, Source] = {
        "emptyDir": ("emptyDir", "emptyDir", "emptyDir", _empty_dir),
        "secret": ("secret", "secret", "secret", _secret),
        "downwardAPI": ("downwardAPI", "downwarAPI", "downwardAPI", _downward_api),
        "configMap": ("configMap", "configMap", "configMap", _config_map),
        "projected": ("projected", "projected", "projected", _projected),
        "ephemeral": ("ephemeral", "ephemeral", "ephemeral", _ephemeral),
        "image": ("image", "image", "image", _image(is_pod=is_pod)),
    }
    order = (
        "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret",
        "nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder",
        "cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile",
        "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos",
        "projected", "scaleIO", "csi", "ephemeral", "image",
    )  # fmt: skip
    return tuple(own.get(key) or storage[key] for key in order)


_SOURCES_OF_PODS: Final = _in_order(is_pod=True)
_SOURCES_OF_TEMPLATES: Final = _in_order(is_pod=False)
