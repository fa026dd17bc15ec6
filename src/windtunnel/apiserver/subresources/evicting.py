"""Evictions: deletes that ask disruption budgets first."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.options import DeleteOptions, delete_options
from windtunnel.apiserver.forms.rendering import CREATED, answer
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.deleting import Deleting
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.reading import Reading
from windtunnel.apiserver.verbs.validation import read_body
from windtunnel.kinds import Catalogue, Kind, structure_of
from windtunnel.kinds.pod.evictions import API_VERSIONS, Refused, eviction_condition, judge
from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.tree import Tree
from windtunnel.store import Version

AS_IT_COMES: Final = DeleteOptions()
_BUDGETS: Final = "poddisruptionbudgets.policy"


def _eviction_kind(version: str) -> Kind:
    return Kind(
        group="policy",
        version=version,
        kind="Eviction",
        plural="evictions",
        singular="eviction",
        namespaced=True,
        structure=lambda: structure_of("policy", "v1", "Eviction"),
    )


_KINDS: Final = {version: _eviction_kind(version.partition("/")[2]) for version in API_VERSIONS}


class Evicting:
    """Evicts pods."""

    def __init__(
        self, objects: Objects, reading: Reading, deleting: Deleting, catalogue: Catalogue
    ) -> None:
        self._objects, self._reading, self._deleting = objects, reading, deleting
        self._budgets = catalogue.by_resource(_BUDGETS)

    def handle(self, call: Call) -> Answer:
        """Answer a POST of an Eviction."""
        beta = b"policy/v1beta1" in call.request.body[:200]
        kind = _KINDS["policy/v1beta1" if beta else "policy/v1"]
        tree = read_body(call, kind)
        name = (tree.get("metadata") or {}).get("name")
        if name not in (None, "", call.route.name):
            raise BadRequest("name in URL does not match name in Eviction object")
        options = delete_options((), tree.get("deleteOptions") or {})
        call.dry_run = call.dry_run or options.dry_run
        self.evict(call, options)
        return answer(CREATED, status=201, revision=self._objects.store.revision)

    def evict(self, call: Call, options: DeleteOptions = AS_IT_COMES) -> None:
        """Evict the pod named in the path.

        Raises:
            NotFound: There is no such pod.
            TooManyRequests: A budget forbids it now.
        """
        version = self._reading.find(call)
        pod = version.tree()
        budgets = [
            self._objects.tree(self._budgets, each)
            for each in self._objects.store.list(self._budgets.store, call.namespace)
        ]
        verdict = judge(pod, budgets, call.now)
        if isinstance(verdict, Refused):
            raise verdict.error
        if verdict.budget is not None and not call.dry_run:
            metadata = verdict.budget["metadata"]
            self._objects.put(
                self._budgets,
                version.key._replace(name=metadata["name"]),
                verdict.budget,
                int(metadata["resourceVersion"]),
            )
        version = self._mark(call, version, pod)
        self._deleting.delete(call, version, replace(options, uid=version.uid, resource_version=""))

    def _mark(self, call: Call, version: Version, pod: Tree) -> Version:
        """Say in the pod's status why it goes."""
        status = pod.setdefault("status", {})
        conditions = status.setdefault("conditions", [])
        if any(each.get("type") == "DisruptionTarget" for each in conditions) or call.dry_run:
            return version
        if not pod["spec"].get("nodeName"):
            return version
        times = {"lastProbeTime": None, "lastTransitionTime": call.timestamp}
        conditions.append({**eviction_condition(), **times})
        return self._objects.put(call.kind, version.key, pod, version.revision)
