"""What the API server would ask a pod's node for: logs, exec, attach, port-forward, proxy.

Everything that can be said without the node is said here. A node that runs real processes is asked
by whoever serves it; a played node has nothing to show.
"""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.options import whole
from windtunnel.apiserver.forms.rendering import COMMON_HEADERS
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.reading import Reading
from windtunnel.machinery.errors import BadRequest, Invalid, NotFound, ServiceUnavailable
from windtunnel.machinery.tree import Key, Tree
from windtunnel.machinery.violations import Violation, forbidden, invalid

NODE_CALLS: Final = frozenset({"log", "exec", "attach", "portforward", "proxy"})
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")


class NodeCalls:
    """Answers calls to a pod's node as far as the API server can."""

    def __init__(self, objects: Objects, reading: Reading) -> None:
        self._objects, self._reading = objects, reading

    def handle(self, call: Call) -> Answer:
        """Answer the call, or say why it cannot be made."""
        if call.kind.resource != "pods":
            self._reading.find(call)
            raise ServiceUnavailable(
                f"{call.kind.singular} {call.route.name} cannot be reached through the API server: "
                "nothing is played behind its address"
            )
        pod = self._objects.tree(call.kind, self._reading.find(call))
        subresource = call.route.subresource
        if subresource == "log":
            self._check_log(call)
        if subresource in ("log", "exec", "attach"):
            self._check_container(call, pod)
        node = (pod.get("spec") or {}).get("nodeName") or ""
        if not node:
            if subresource == "log":
                return Answer(204, b"", "", [*COMMON_HEADERS], self._objects.store.revision)
            raise BadRequest(f"pod {call.route.name} does not have a host assigned")
        if self._objects.store.get("nodes", Key("", node)) is None:
            raise NotFound.of("pods", "", node)
        raise ServiceUnavailable(
            f"node {node} does not run the containers of pod {call.route.name}: its pods are "
            f"played, so there is nothing to {_PURPOSES[subresource]}"
        )

    def _check_log(self, call: Call) -> None:
        request = call.request
        violations: list[Violation] = []
        for field, least in (("tailLines", 0), ("sinceSeconds", 1), ("limitBytes", 1)):
            text = request.parameter(field)
            if text and whole(text) < least:
                words = "greater than or equal to 0" if least == 0 else "greater than 0"
                violations.append(invalid(field, whole(text), f"must be {words}"))
        if request.parameter("sinceTime") and request.parameter("sinceSeconds"):
            violations.append(
                forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified")
            )
        if violations:
            raise Invalid("PodLogOptions", "", call.route.name, violations)

    def _check_container(self, call: Call, pod: Tree) -> None:
        name = call.route.name
        spec = pod.get("spec") or {}
        names = [each.get("name", "") for field in _CONTAINERS for each in spec.get(field) or ()]
        wanted = call.request.parameter("container")
        if wanted and wanted not in names:
            raise BadRequest(f"container {wanted} is not valid for pod {name}")
        main = [each.get("name", "") for each in spec.get("containers") or ()]
        if not wanted and len(main) > 1 and call.route.subresource == "log":
            raise BadRequest(
                f"a container name must be specified for pod {name}, choose one of: "
                f"[{' '.join(main)}]"
            )


_PURPOSES: Final = {
    "log": "read",
    "exec": "run commands in",
    "attach": "attach to",
    "portforward": "forward ports to",
    "proxy": "connect to",
}
