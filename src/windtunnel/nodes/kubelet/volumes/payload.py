"""What the files of a volume hold: ConfigMaps, Secrets, a pod's own fields, tokens.

Pure: objects in, files out. Source: kubelet v1.36; texts are exact.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.volumes.failures import VolumeMissing

_DEFAULT_MODE: Final = 0o644


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of a volume."""

    content: bytes
    mode: int


Files = Mapping[str, PlannedFile]
"""Files by their path within the volume."""


def config_map_files(source: Tree, name: str, tree: Tree | None, mode: int | None = None) -> Files:
    """Return the files of a ConfigMap.

    Args:
        source: The volume's source, or one of a projected volume.
        name: The ConfigMap's.
        tree: The ConfigMap; None where there is none.
        mode: The default mode, where the source itself has none.

    Raises:
        VolumeMissing: it or one of its keys is not there, and must be.
    """
    if tree is None:
        return _unless_optional(source, f'configmap "{name}" not found')
    contents = {key: str(text).encode() for key, text in (tree.get("data") or {}).items()}
    contents |= {
        key: base64.b64decode(text) for key, text in (tree.get("binaryData") or {}).items()
    }
    return _chosen(source, contents, mode, "configmap references non-existent config key: {}")


def secret_files(source: Tree, name: str, tree: Tree | None, mode: int | None = None) -> Files:
    """Return the files of a Secret; as ``config_map_files``."""
    if tree is None:
        return _unless_optional(source, f'secret "{name}" not found')
    contents = {key: base64.b64decode(text) for key, text in (tree.get("data") or {}).items()}
    return _chosen(source, contents, mode, "references non-existent secret key: {}")


def downward_files(
    source: Tree,
    field: Callable[[str], str],
    resource: Callable[[Tree], str],
    mode: int | None = None,
) -> Files:
    """Return the files of a pod's own fields.

    Args:
        source: The volume's source.
        field: Tells what a field of the pod says.
        resource: Tells how much of a resource a container has.
        mode: The default mode, where the source itself has none.
    """
    files = {}
    for item in source.get("items") or ():
        if item.get("fieldRef") is not None:
            text = field(str(item["fieldRef"]["fieldPath"]))
        else:
            text = resource(item.get("resourceFieldRef") or {})
        files[_path(item)] = PlannedFile(text.encode(), _mode(source, item, mode))
    return files


def _unless_optional(source: Tree, why: str) -> Files:
    if source.get("optional"):
        return {}
    raise VolumeMissing(why)


def _chosen(source: Tree, contents: Mapping[str, bytes], mode: int | None, missing: str) -> Files:
    items = source.get("items")
    if not items:
        return {
            key: PlannedFile(contents[key], _mode(source, {}, mode)) for key in sorted(contents)
        }
    files = {}
    for item in items:
        key = str(item["key"])
        if key in contents:
            files[_path(item)] = PlannedFile(contents[key], _mode(source, item, mode))
        elif not source.get("optional"):
            raise VolumeMissing(missing.format(key))
    return files


def _path(item: Tree) -> str:
    return str(item.get("path") or "").strip("/")


def _mode(source: Tree, item: Tree, default: int | None) -> int:
    for mode in (item.get("mode"), source.get("defaultMode"), default):
        if mode is not None:
            return int(mode)
    return _DEFAULT_MODE
