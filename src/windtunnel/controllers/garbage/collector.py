"""Garbage collection: what has lost its last owner goes; owners wait for dependents or free them.

Source: garbage collector of Kubernetes v1.36. An owner exists if a live read by name, in the
dependent's own namespace, finds the same uid; the graph only says where to look.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from windtunnel.client import ChangeType, Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.garbage.graph import FOREGROUND, ORPHAN, Graph, Node
from windtunnel.controllers.resources import Resource, Resources
from windtunnel.controllers.views import OwnerReference
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.errors import Conflict, NotFound
from windtunnel.machinery.tree import Key, Tree, dig

AT_ONCE: Final = 20
"""Dependents that are let go of in one step."""
_ABSENT_REMEMBERED: Final = 500


@dataclass(slots=True)
class Owners:
    """An object's owner references, by what became of the owner."""

    solid: list[Tree] = field(default_factory=list)
    dangling: list[Tree] = field(default_factory=list)
    waiting: list[Tree] = field(default_factory=list)
    """Owners that wait for their dependents to go."""


def decide(owners: Owners, has_dependents: bool, finalizers: list[str]) -> str:
    """Say what becomes of a dependent: keep, drop dead references, or a way to delete it."""
    if owners.solid:
        return "drop" if owners.dangling or owners.waiting else "keep"
    if owners.waiting and has_dependents:
        return "Foreground"
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


class UnknownKind(Exception):
    """An owner is of a kind that nobody serves (yet): whether it exists cannot be said."""


class GarbageCollector:
    """Collects garbage; keys are uids."""

    name = "garbage-collector-controller"

    def __init__(
        self, client: Client, graph: Graph, resources: Resources, recorder: Recorder
    ) -> None:
        self._client, self._graph, self._resources = client, graph, resources
        self._recorder = recorder
        self._absent: OrderedDict[tuple[str, str], None] = OrderedDict()
        """(namespace, uid) of owners that are known not to exist."""

    def attach(self, queue: WorkQueue[str]) -> None:
        """Queue what a change may have made garbage, and owners that wait."""

        def changed(type_: ChangeType, node: Node, before: Node | None) -> None:
            if type_ == "DELETED":
                for dependent in self._graph.dependents(node.uid):
                    queue.add(dependent.uid)
                for reference in node.owners:
                    owner = self._graph.get(reference.uid)
                    if owner is not None and owner.foreground:
                        queue.add(owner.uid)
                return
            if node.owners and (before is None or before.owners != node.owners):
                self._look_at_owners(node, before, queue)
            if before is None or before is not node:
                self._look_at_deletion(node, before, queue)

        self._graph.on_change(changed)

    def reconcile(self, uid: str) -> Result:
        """Look at one object."""
        node = self._graph.get(uid)
        if node is None:
            return DONE
        if node.orphans:
            return self._let_go(node)
        if node.foreground:
            self._finish_foreground(node)
            return DONE
        if node.deleting:
            return DONE
        live = self._client.get(node.resource, node.key)
        if live is None or live["metadata"]["uid"] != uid:
            self._graph.forget(uid)
            return DONE
        references = dig(live, "metadata", "ownerReferences") or []
        if references:
            self._collect(node, live, references)
        return DONE

    def _look_at_owners(self, node: Node, before: Node | None, queue: WorkQueue[str]) -> None:
        known = {each.uid for each in before.owners} if before is not None else set()
        for reference in node.owners:
            owner = self._graph.get(reference.uid)
            if owner is None:
                queue.add_after(node.uid, 0.0)
            elif owner.foreground:
                queue.add(node.uid)
            elif owner.key.namespace and owner.key.namespace != node.key.namespace:
                if reference.uid not in known:
                    self._report_namespace(node, reference)
                queue.add(node.uid)
        for uid in known - {each.uid for each in node.owners}:
            owner = self._graph.get(uid)
            if owner is not None and owner.foreground:
                queue.add(uid)

    def _look_at_deletion(self, node: Node, before: Node | None, queue: WorkQueue[str]) -> None:
        began = before is None or not before.foreground
        if node.foreground and began:
            for dependent in self._graph.dependents(node.uid):
                queue.add(dependent.uid)
            queue.add(node.uid)
        elif node.orphans and (before is None or not before.orphans):
            queue.add(node.uid)
        unblocked = before is not None and before.owners != node.owners
        if unblocked or node.foreground:
            for reference in node.owners:
                owner = self._graph.get(reference.uid)
                if owner is not None and owner.foreground:
                    queue.add(owner.uid)

    def _collect(self, node: Node, live: Tree, references: list[Tree]) -> None:
        owners = self._classify(node, references)
        finalizers = dig(live, "metadata", "finalizers") or []
        verdict = decide(owners, self._graph.has_dependents(node.uid), finalizers)
        if verdict == "keep":
            return
        if verdict == "drop":
            gone = {each["uid"] for each in (*owners.dangling, *owners.waiting)}
            self._drop(node, references, gone)
            return
        if verdict == "Foreground" and owners.waiting and self._is_circle(node):
            unblocked = [{**each, "blockOwnerDeletion": False} for each in references]
            self._patch(node, {"ownerReferences": unblocked})
        try:
            self._client.delete(node.resource, node.key, uid=node.uid, propagation=verdict)
        except NotFound:
            self._graph.forget(node.uid)
        except Conflict:
            return  # another object of the same name; its own events bring it here

    def _is_circle(self, node: Node) -> bool:
        """Whether something that depends on this waits for its own dependents."""
        return any(each.foreground for each in self._graph.dependents(node.uid))

    def _classify(self, node: Node, references: list[Tree]) -> Owners:
        owners = Owners()
        for reference in references:
            resource = self._resources.of_kind(reference["apiVersion"], reference["kind"])
            if resource is None:
                raise UnknownKind(f"{reference['apiVersion']} {reference['kind']}")
            if resource.namespaced and not node.key.namespace:
                owners.solid.append(reference)  # cannot be looked up; left alone
                continue
            owner = self._owner(node, resource, reference)
            if owner is None:
                owners.dangling.append(reference)
            elif self._waits(owner):
                owners.waiting.append(reference)
            else:
                owners.solid.append(reference)
        return owners

    def _owner(self, node: Node, resource: Resource, reference: Tree) -> Tree | None:
        namespace = node.key.namespace if resource.namespaced else ""
        mark = (namespace, reference["uid"])
        if mark in self._absent:
            return None
        owner = self._client.get(resource.name, Key(namespace, reference["name"]))
        if owner is None or owner["metadata"]["uid"] != reference["uid"]:
            self._absent[mark] = None
            if len(self._absent) > _ABSENT_REMEMBERED:
                self._absent.popitem(last=False)
            return None
        return owner

    @staticmethod
    def _waits(owner: Tree) -> bool:
        metadata = owner["metadata"]
        return metadata.get("deletionTimestamp") is not None and FOREGROUND in (
            metadata.get("finalizers") or ()
        )

    def _finish_foreground(self, node: Node) -> None:
        """Let an owner go when nothing blocks it any more."""
        if any(each.blocks(node.uid) for each in self._graph.dependents(node.uid)):
            return
        self._remove_finalizer(node, FOREGROUND)

    def _let_go(self, node: Node) -> Result:
        """Take the owner's reference from its dependents, then let it go."""
        dependents = self._graph.dependents(node.uid)
        for dependent in dependents[:AT_ONCE]:
            live = self._client.get(dependent.resource, dependent.key)
            if live is None or live["metadata"]["uid"] != dependent.uid:
                self._graph.forget(dependent.uid)
                continue
            references = dig(live, "metadata", "ownerReferences") or []
            self._drop(dependent, references, {node.uid})
        if len(dependents) > AT_ONCE:
            return Result(again_in=0.0)
        self._remove_finalizer(node, ORPHAN)
        return DONE

    def _drop(self, node: Node, references: list[Tree], gone: set[str]) -> None:
        kept = [each for each in references if each["uid"] not in gone]
        self._patch(node, {"ownerReferences": kept or None})

    def _remove_finalizer(self, node: Node, finalizer: str) -> None:
        live = self._client.get(node.resource, node.key)
        if live is None or live["metadata"]["uid"] != node.uid:
            self._graph.forget(node.uid)
            return
        present = dig(live, "metadata", "finalizers") or []
        kept = [each for each in present if each != finalizer]
        if kept != present:
            self._patch(node, {"finalizers": kept or None})

    def _patch(self, node: Node, metadata: Tree) -> None:
        patch = {"metadata": {"uid": node.uid, **metadata}}
        try:
            self._client.patch(node.resource, node.key, patch)
        except NotFound:
            self._graph.forget(node.uid)

    def _report_namespace(self, node: Node, reference: OwnerReference) -> None:
        where = node.key.namespace
        resource = self._resources.find(node.resource)
        text = (
            f"ownerRef [{reference.api_version}/{reference.kind}, namespace: {where}, "
            f'name: {reference.name}, uid: {reference.uid}] does not exist in namespace "{where}"'
        )
        subject = Subject(
            resource.kind if resource is not None else "",
            node.key.name,
            where,
            node.uid,
            resource.api_version if resource is not None else "v1",
        )
        self._recorder.warning(subject, "OwnerRefInvalidNamespace", text)
