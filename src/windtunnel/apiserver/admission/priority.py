"""A pod's priority comes from its class, never from the pod."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Store, Version

_CLASSES: Final = "priorityclasses.scheduling.k8s.io"
_PREEMPTS: Final = "PreemptLowerPriority"


class Priority:
    """Resolves priority classes; keeps a single default among them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._default: Tree | None = None
        self._known = False
        store.subscribe(_CLASSES, self._forget)

    def _forget(self, _: Version) -> None:
        self._known = False

    def concerns(self, act: Act) -> bool:
        """Pods without act.subresource, and the classes themselves."""
        return act.operation in ("CREATE", "UPDATE") and (
            (act.resource == "pods" and not act.subresource) or act.resource == _CLASSES
        )

    def _default_class(self) -> Tree | None:
        if not self._known:
            marked = [
                tree
                for version in self._store.list(_CLASSES)
                if (tree := version.tree()).get("globalDefault")
            ]
            self._default = min(marked, key=lambda tree: int(tree["value"]), default=None)
            self._known = True
        return self._default

    def mutate(self, petition: Petition) -> None:
        """Write the class's priority and preemption policy into a pod."""
        if petition.act.resource != "pods" or petition.new is None:
            return
        spec = petition.new["spec"]
        if petition.act.operation == "UPDATE":
            before = (petition.old or {}).get("spec") or {}
            for field in ("priority", "preemptionPolicy"):
                if spec.get(field) is None and before.get(field) is not None:
                    spec[field] = before[field]
            return
        name = spec.get("priorityClassName") or ""
        value, policy = 0, _PREEMPTS
        chosen = self._default_class() if not name else self._class(petition, name)
        if chosen is not None:
            value = chosen.get("value") or 0
            policy = chosen.get("preemptionPolicy") or _PREEMPTS
            spec["priorityClassName"] = chosen["metadata"]["name"]
        given = spec.get("priority")
        if given is not None and given != value:
            raise petition.refusal(
                f"the integer value of priority ({given}) must not be provided in pod spec; "
                f"priority admission controller computed {value} from the given PriorityClass name",
            )
        spec["priority"] = value
        wanted = spec.get("preemptionPolicy")
        if wanted is not None and wanted != policy:
            raise petition.refusal(
                f"the string value of PreemptionPolicy ({wanted}) must not be provided in pod "
                f"spec; priority admission controller computed {policy} from the given "
                "PriorityClass name",
            )
        spec["preemptionPolicy"] = policy

    def _class(self, petition: Petition, name: str) -> Tree:
        version = self._store.get(_CLASSES, Key("", name))
        if version is None:
            raise petition.refusal(f"no PriorityClass with name {name} was found")
        return version.tree()

    def judge(self, petition: Petition) -> None:
        """Refuse a second default class."""
        if petition.act.resource == "pods" or not (petition.new or {}).get("globalDefault"):
            return
        default = self._default_class()
        if default is not None and default["metadata"]["name"] != petition.name:
            raise petition.refusal(
                f"PriorityClass {default['metadata']['name']} is already marked as default. Only "
                "one default can exist",
            )
