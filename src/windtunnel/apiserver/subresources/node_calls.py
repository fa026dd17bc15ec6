"""What the API server asks a pod's node for: logs, exec, attach and port-forward.

Everything that can be said without the node is said here; the rest is a ``Relay`` to its kubelet,
ours or a real one alike. The query is translated, for kubelets have words of their own. A played
node has nothing to show.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, urlencode

from windtunnel.apiserver.access.authorization import Authorizer, asked_by
from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.options import whole
from windtunnel.apiserver.forms.rendering import COMMON_HEADERS
from windtunnel.apiserver.request import Answer, Relay, Request
from windtunnel.apiserver.subresources.reaching import Unreachable, is_played, kubelet
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.reading import Reading
from windtunnel.machinery.errors import (
    ApiError,
    BadRequest,
    InternalError,
    Invalid,
    NotFound,
    ServiceUnavailable,
)
from windtunnel.machinery.tree import Key, Tree, decode, dig
from windtunnel.machinery.violations import Violation, forbidden, invalid

NODE_CALLS: Final = frozenset({"log", "exec", "attach", "portforward"})
_TRANSLATES: Final = "ExtendWebSocketsToKubelet"
"""What a node declares whose kubelet speaks the newer WebSocket protocols itself."""
_NEWER: Final = ("v5.channel.k8s.io", "SPDY/3.1+portforward.k8s.io")
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_FALSE: Final = ("false", "0")
_STREAMS: Final = (
    ("stdin", "input", False),
    ("stdout", "output", True),
    ("stderr", "error", True),
    ("tty", "tty", False),
)
"""(name for clients, name for kubelets, what holds where it is not said)."""
_LOG_OPTIONS: Final = ("tailLines", "sinceSeconds", "sinceTime", "limitBytes")
_LOG_SWITCHES: Final = ("follow", "previous", "timestamps")


class NodeCalls:
    """Says where a call to a pod's node goes, or why it cannot be made."""

    def __init__(self, objects: Objects, reading: Reading, authorizer: Authorizer) -> None:
        self._objects, self._reading, self._authorizer = objects, reading, authorizer

    def handle(self, call: Call) -> Answer | Relay:
        """Answer the call as far as the API server can."""
        subresource = call.route.subresource
        if subresource != "log" and call.route.verb == "get" and not call.trusted:
            # A WebSocket begins with a GET, and must not be a way around the right to create.
            self._authorizer.require(call.user, asked_by(call.route)._replace(verb="create"))
        pod = self._objects.tree(call.kind, self._reading.find(call))
        if subresource == "log":
            _check_log(call)
        container = "" if subresource == "portforward" else _container(call, pod)
        name = (pod.get("spec") or {}).get("nodeName") or ""
        if not name:
            if subresource == "log":
                return Answer(204, b"", "", [*COMMON_HEADERS], self._objects.store.revision)
            raise BadRequest(f"pod {call.route.name} does not have a host assigned")
        node = self._node(name)
        if is_played(node):
            raise ServiceUnavailable(
                f"node {name} does not run the containers of pod {call.route.name}: its pods are "
                f"played, so there is nothing to {_PURPOSES[subresource]}"
            )
        destination = kubelet(node)
        tail = (call.route.namespace, call.route.name)
        if subresource == "log":
            target = _target("containerLogs", (*tail, container), _log_query(call.request))
            return Relay(
                destination=destination,
                target=target,
                upgrade=False,
                unreachable=lambda why: Unreachable(f'Get "https://{destination}{target}": {why}'),
                refused=lambda status, text: _log_refusal(call.route.name, status, text),
                content_type="text/plain",
            )
        _check_upgrade(call, node)
        if subresource == "portforward":
            ports = [("port", text) for key, text in call.request.query if key == "ports"]
            target = _target("portForward", tail, ports)
        else:
            query = _stream_query(call.request, commands=subresource == "exec")
            target = _target(subresource, (*tail, container), query)
        return Relay(
            destination=destination,
            target=target,
            upgrade=True,
            unreachable=lambda why: Unreachable(f"error dialing backend: {why}"),
        )

    def _node(self, name: str) -> Tree:
        version = self._objects.store.get("nodes", Key("", name))
        if version is None:
            raise NotFound.of("pods", "", name)
        node: Tree = decode(version.body)
        return node


def _check_log(call: Call) -> None:
    request = call.request
    violations: list[Violation] = []
    both = request.parameter("sinceTime") and request.parameter("sinceSeconds")
    for field, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)):
        text = request.parameter(field)
        if text and whole(text) < least and not (both and field == "sinceSeconds"):
            words = "greater than or equal to 0" if least == 0 else "greater than 0"
            violations.append(invalid(field, whole(text), f"must be {words}"))
    if both:
        violations.append(
            forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified")
        )
    if request.parameter("stream"):
        violations.append(forbidden("stream", "may not be specified"))
    if violations:
        raise Invalid("PodLogOptions", "", call.route.name, violations)


def _container(call: Call, pod: Tree) -> str:
    """Return the container that is meant.

    Raises:
        BadRequest: There is none of this name, or one of several must be named.
    """
    name = call.route.name
    names = {field: _names(pod, field) for field in _CONTAINERS}
    wanted = call.request.parameter("container")
    if wanted:
        if not any(wanted in some for some in names.values()):
            raise BadRequest(f"container {wanted} is not valid for pod {name}")
        return wanted
    main = names["containers"]
    if len(main) == 1:
        return main[0]
    text = f"a container name must be specified for pod {name}"
    if main:
        text += f", choose one of: [{' '.join(main)}]"
        if names["initContainers"]:
            text += f" or one of the init containers: [{' '.join(names['initContainers'])}]"
    raise BadRequest(text)


def _names(pod: Tree, field: str) -> list[str]:
    return [each.get("name", "") for each in (pod.get("spec") or {}).get(field) or ()]


def _check_upgrade(call: Call, node: Tree) -> None:
    """Refuse what is no upgrade, or one that this node's kubelet does not understand.

    Clients that are refused a WebSocket try again in the older way, which is passed on as it is.
    """
    headers = call.request.headers
    connection = headers.get("connection", "").lower()
    if "upgrade" not in connection or not headers.get("upgrade"):
        raise BadRequest("Upgrade request required")
    wanted = headers.get("sec-websocket-protocol", "")
    if _TRANSLATES in (dig(node, "status", "declaredFeatures") or ()):
        return
    offered = [each.strip() for each in wanted.split(",") if each.strip()]
    if offered and all(each in _NEWER for each in offered):
        raise BadRequest(
            f"the kubelet of node {dig(node, 'metadata', 'name')} does not declare {_TRANSLATES}: "
            f"{' and '.join(offered)} cannot be passed on to it"
        )


def _target(verb: str, parts: Iterable[str], query: list[tuple[str, str]]) -> str:
    path = "/".join(("", verb, *(quote(part, safe="") for part in parts)))
    return f"{path}?{urlencode(query)}" if query else path


def _stream_query(request: Request, *, commands: bool) -> list[tuple[str, str]]:
    found = [
        (theirs, "1")
        for ours, theirs, otherwise in _STREAMS
        if _truth(request.parameter(ours, "true" if otherwise else "false"))
    ]
    if commands:
        found += [pair for pair in request.query if pair[0] == "command"]
    return found


def _log_query(request: Request) -> list[tuple[str, str]]:
    found = [(name, "true") for name in _LOG_SWITCHES if _truth(request.parameter(name, "false"))]
    return found + [(name, text) for name in _LOG_OPTIONS if (text := request.parameter(name))]


def _truth(text: str) -> bool:
    """Read a switch as the real server does: whatever is given and not false is true."""
    return text.lower() not in _FALSE


def _log_refusal(name: str, status: int, text: str) -> ApiError:
    if status == 400:
        return BadRequest(text)
    if status == 500:
        return InternalError(f"Internal error occurred: {text}")
    if status == 404:
        return NotFound(
            f"the server could not find the requested resource ( pods/log {name})",
            details={"name": name, "kind": "pods/log"},
        )
    return InternalError(f"the kubelet answered {status}: {text.strip()}")


_PURPOSES: Final = {
    "log": "read",
    "exec": "run commands in",
    "attach": "attach to",
    "portforward": "forward ports to",
}
