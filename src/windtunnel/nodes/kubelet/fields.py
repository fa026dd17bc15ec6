"""What a pod may be told of itself: fields of its object, resources of its containers.

Source: kubelet v1.36 (fieldRef and resourceFieldRef). A resource without a limit is as large as the
node can give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from windtunnel.machinery.quantity import parse
from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.pod_spec import container_of

_ENTRY: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


def field_value(pod: Tree, path: str, *, node_address: str, address: str) -> str:
    """Return what a field of the pod says, as text.

    Raises:
        ValueError: there is no such field.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    entry = _ENTRY.fullmatch(path)
    if entry is not None:
        return str((metadata.get(entry[1]) or {}).get(entry[2], ""))
    match path:
        case "metadata.name" | "metadata.namespace" | "metadata.uid":
            return str(metadata.get(path.removeprefix("metadata.")) or "")
        case "metadata.labels" | "metadata.annotations":
            entries = metadata.get(path.removeprefix("metadata.")) or {}
            return "\n".join(f"{key}={_quoted(entries[key])}" for key in sorted(entries))
        case "spec.nodeName" | "spec.serviceAccountName":
            return str(spec.get(path.removeprefix("spec.")) or "")
        case "status.hostIP" | "status.hostIPs":
            return node_address
        case "status.podIP" | "status.podIPs":
            return address or (node_address if spec.get("hostNetwork") else "")
    raise ValueError(f"unsupported fieldPath: {path}")


def resource_value(
    pod: Tree, container: Tree, reference: Tree, allocatable: Mapping[str, str]
) -> str:
    """Return how much of a resource a container may use, in units of the divisor, rounded up.

    Raises:
        ValueError: there is no such container or no such resource.
    """
    named = str(reference.get("containerName") or "")
    meant = container_of(pod, named) if named else container
    if meant is None:
        raise ValueError(f"container {named} not found")
    part, _, resource = str(reference.get("resource") or "").partition(".")
    if part not in ("limits", "requests") or not resource:
        raise ValueError(f"unsupported container resource : {reference.get('resource')}")
    amount = dig(meant, "resources", part, resource)
    if amount is None and part == "limits":
        amount = allocatable.get(resource)
    divisor = parse(reference.get("divisor") or "1")
    unit = divisor.nanos or parse("1").nanos
    return str(-(-parse(amount or "0").nanos // unit))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
