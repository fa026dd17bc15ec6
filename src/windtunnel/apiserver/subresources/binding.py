"""Binding: a pod is given to a node, once."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.rendering import CREATED, answer
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.validation import read_body
from windtunnel.kinds import Kind, structure_of
from windtunnel.kinds.pod.bindings import validate_binding
from windtunnel.machinery.errors import BadRequest, Conflict, InternalError, NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Store

_TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
BINDING: Final = Kind(
    group="",
    version="v1",
    kind="Binding",
    plural="bindings",
    singular="binding",
    namespaced=True,
    structure=lambda: structure_of("", "v1", "Binding"),
)


class _BadBinding(InternalError):
    """The real server reports an unsound binding without a reason."""

    reason = ""


class Binding:
    """Binds pods to nodes."""

    def __init__(self, objects: Objects, pods: Kind) -> None:
        self._objects, self._pods = objects, pods

    def handle(self, call: Call) -> Answer:
        """Answer a POST of a Binding, to a pod's subresource or to the collection."""
        tree = read_body(call, BINDING)
        metadata = tree.get("metadata") or {}
        name = call.route.name or metadata.get("name") or ""
        if metadata.get("name") not in (None, "", name):
            raise BadRequest("name in URL does not match name in Binding object")
        violations = validate_binding(tree)
        if violations:
            texts = [str(violation) for violation in violations]
            raise _BadBinding(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
        target = tree["target"]
        self.bind(
            Key(call.route.namespace, name),
            target["name"],
            now=call.now,
            uid=metadata.get("uid") or "",
            labels=metadata.get("labels"),
            annotations=metadata.get("annotations"),
            dry_run=call.dry_run,
        )
        return answer(CREATED, status=201, revision=self._objects.store.revision)

    def bind(
        self,
        key: Key,
        node: str,
        *,
        now: float,
        uid: str = "",
        labels: Tree | None = None,
        annotations: Tree | None = None,
        dry_run: bool = False,
    ) -> None:
        """Give a pod to a node.

        Raises:
            NotFound: There is no such pod.
            Conflict: It has a node already, is going, waits for gates, or is another pod.
        """
        version = self._objects.find(self._pods, key)
        if version is None:
            raise NotFound.of("pods", "", key.name)
        pod = version.tree()
        metadata, spec = pod["metadata"], pod["spec"]
        if uid and uid != metadata["uid"]:
            raise Conflict.of(
                "pods/binding",
                "",
                key.name,
                f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
                f"{metadata['uid']}",
            )
        why = ""
        if "deletionTimestamp" in metadata:
            why = f"pod {key.name} is being deleted, cannot be assigned to a host"
        elif spec.get("nodeName"):
            why = f'pod {key.name} is already assigned to node "{spec["nodeName"]}"'
        elif spec.get("schedulingGates"):
            why = f"pod {key.name} has non-empty .spec.schedulingGates"
        if why:
            raise Conflict.of("pods/binding", "", key.name, why)
        spec["nodeName"] = node
        if annotations:
            metadata.setdefault("annotations", {}).update(annotations)
        topology = topology_of(self._objects.store, node)
        if labels or topology:
            metadata.setdefault("labels", {}).update({**topology, **(labels or {})})
        status = pod.setdefault("status", {})
        status.pop("nominatedNodeName", None)  # the claim on a node ends with the binding
        _mark_scheduled(status, time_text(now))
        if not dry_run:
            self._objects.put(self._pods, key, pod, version.revision)


def topology_of(store: Store, node: str) -> dict[str, str]:
    """Return the labels that a pod takes from its node."""
    version = store.get("nodes", Key("", node))
    if version is None:
        return {}
    return {name: version.labels[name] for name in _TOPOLOGY if name in version.labels}


def _mark_scheduled(status: Tree, stamp: str) -> None:
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": stamp,
    }
    conditions = status.get("conditions") or []
    for index, present in enumerate(conditions):
        if present.get("type") == "PodScheduled":
            if present.get("status") == "True":
                condition["lastTransitionTime"] = present.get("lastTransitionTime")
            conditions[index] = condition
            break
    else:
        conditions.append(condition)
    status["conditions"] = conditions
