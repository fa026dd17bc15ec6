"""Tokens of service accounts on request, bound to what they are to die with."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.access.tokens import Bound, Signer, claims_for
from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.rendering import answer
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.reading import Reading
from windtunnel.apiserver.verbs.validation import read_body
from windtunnel.apiserver.verbs.writing import require_namespace
from windtunnel.kinds import Kind, structure_of
from windtunnel.machinery.errors import BadRequest, Conflict, Invalid, NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree
from windtunnel.machinery.violations import invalid

_DEFAULT_SECONDS: Final = 3600
_SHORTEST_SECONDS: Final = 600
_LONGEST_SECONDS: Final = 1 << 32
_BINDABLE: Final = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_KIND: Final = Kind(
    group="authentication.k8s.io",
    version="v1",
    kind="TokenRequest",
    plural="tokenrequests",
    singular="tokenrequest",
    namespaced=True,
    structure=lambda: structure_of("authentication.k8s.io", "v1", "TokenRequest"),
)


class TokenRequests:
    """Mints tokens."""

    def __init__(self, objects: Objects, reading: Reading, signer: Signer) -> None:
        self._objects, self._reading, self._signer = objects, reading, signer

    def handle(self, call: Call) -> Answer:
        """Answer a POST of a TokenRequest."""
        tree = read_body(call, _KIND)
        account = self._reading.find(call)
        metadata = tree.get("metadata") or {}
        require_namespace(call, metadata)
        name = metadata.get("name") or call.route.name
        if name != call.route.name:
            why = "must match the service account name if specified"
            raise Invalid(
                "TokenRequest",
                _KIND.group,
                call.route.name,
                [invalid("metadata.name", name, why)],
            )
        spec = tree.get("spec") or {}
        seconds = spec.get("expirationSeconds")
        if seconds is None:
            seconds = _DEFAULT_SECONDS
        why = ""
        if seconds < _SHORTEST_SECONDS:
            why = "may not specify a duration less than 10 minutes"
        elif seconds > _LONGEST_SECONDS:
            why = "may not specify a duration larger than 2^32 seconds"
        if why:
            raise Invalid(
                "TokenRequest",
                _KIND.group,
                "",
                [invalid("spec.expirationSeconds", seconds, why)],
            )
        audiences = list(spec.get("audiences") or [self._signer.issuer])
        bound = spec.get("boundObjectRef")
        expires = call.now + seconds
        claims = claims_for(
            namespace=call.namespace,
            account=call.route.name,
            account_uid=account.uid,
            audiences=audiences,
            now=call.now,
            expires=expires,
            token_id=call.new_uid(),
            issuer=self._signer.issuer,
            bound=self._bound(call.namespace, bound) if bound is not None else None,
        )
        made: Tree = {
            "kind": "TokenRequest",
            "apiVersion": _KIND.api_version,
            "metadata": {
                "name": call.route.name,
                "namespace": call.namespace,
                "creationTimestamp": call.timestamp,
            },
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": bound,
            },
            "status": {
                "token": self._signer.sign(claims),
                "expirationTimestamp": time_text(expires),
            },
        }
        return answer(made, status=201, form=call.form, revision=self._objects.store.revision)

    def _bound(self, namespace: str, reference: Tree) -> Bound:
        kind, name = reference.get("kind") or "", reference.get("name") or ""
        resource = _BINDABLE.get(kind)
        if resource is None:
            group, _, version = (reference.get("apiVersion") or "").rpartition("/")
            raise BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
        key = Key("" if kind == "Node" else namespace, name)
        version = self._objects.store.get(resource, key)
        if version is None:
            raise NotFound.of(resource, "", name)
        uid = reference.get("uid") or version.uid
        if uid != version.uid:
            raise Conflict.of(
                resource,
                "",
                name,
                f"the UID in the bound object reference ({uid}) does not match the UID in record. "
                "The object might have been deleted and then recreated",
            )
        return Bound(kind, name, uid)
