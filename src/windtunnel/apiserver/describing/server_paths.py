"""Paths that name no resource: discovery, OpenAPI, version, health, keys."""

from __future__ import annotations

import re
from typing import Final

from windtunnel.apiserver.access.tokens import Signer
from windtunnel.apiserver.describing.discovery import Discovery
from windtunnel.apiserver.describing.openapi import OpenApi
from windtunnel.apiserver.forms.negotiation import Form, accepted, wants_pretty
from windtunnel.apiserver.forms.rendering import COMMON_HEADERS, answer, text_answer
from windtunnel.apiserver.request import Answer, Request
from windtunnel.kinds.served import recorded
from windtunnel.machinery.errors import MethodNotAllowed, NotFound
from windtunnel.machinery.tree import Tree, encode
from windtunnel.store import Store

_HEALTH: Final = ("healthz", "livez", "readyz")
_CHECKS: Final = ("ping", "log", "etcd", "poststarthook/bootstrap-controller")
_DONE: Final[Tree] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
_VERSIONED: Final = re.compile("/version|/api(/[^/]+)?|/apis/[^/]+/[^/]+")
"""Paths that are read only, and say so; all others take any method for a read."""
_NOT_FOUND: Final = "404 page not found\n"


class ServerPaths:
    """Answers requests that name no resource."""

    def __init__(
        self, store: Store, discovery: Discovery, openapi: OpenApi, signer: Signer
    ) -> None:
        self._store, self._discovery, self._openapi = store, discovery, openapi
        self._signer = signer

    def handle(self, request: Request) -> Answer:
        """Answer one of these paths; what is not known is a plain 404."""
        path = request.path
        first = path.strip("/").partition("/")[0]
        if request.method != "GET" and _VERSIONED.fullmatch(path.rstrip("/")):
            raise MethodNotAllowed
        if path == "/":
            return self._shown(request, {"paths": self._roots()})
        if first in ("api", "apis"):
            return self._discover(request)
        if first == "openapi":
            return self._describe(request)
        if first == "version":
            return self._shown(request, recorded.version())
        if first in _HEALTH:
            return self._health(request, first)
        if path == "/openid/v1/jwks":
            body = encode(self._signer.key_set())
            return Answer(200, body, "application/jwk-set+json", [*COMMON_HEADERS])
        if path == "/.well-known/openid-configuration":
            return self._shown(request, self._issuer())
        if path == "/windtunnel/compact" and request.method == "POST":
            self._store.compact(self._store.revision)
            return answer(_DONE, revision=self._store.revision)
        return text_answer(_NOT_FOUND, 404)

    def _shown(self, request: Request, tree: Tree) -> Answer:
        form = accepted(request.accept, transforms=False)
        pretty = wants_pretty(request.parameter("pretty"), request.headers.get("user-agent", ""))
        return answer(tree, form=Form(form.media), pretty=pretty)

    def _roots(self) -> list[str]:
        paths = ["/.well-known/openid-configuration", *self._discovery.roots()]
        for name in _HEALTH:
            paths += [f"/{name}", *(f"/{name}/{check}" for check in _CHECKS)]
        paths += ["/openapi/v3", "/openapi/v3/", "/openid/v1/jwks", "/version"]
        return sorted(paths)

    def _discover(self, request: Request) -> Answer:
        path = request.path.rstrip("/")
        form = accepted(request.accept, transforms=False)
        if form.discovery and path in ("/api", "/apis"):
            body, content_type, tag = self._discovery.aggregated(path, form.discovery)
            headers = [*COMMON_HEADERS, ("ETag", tag), ("Vary", "Accept")]
            if request.headers.get("if-none-match", "") == tag:
                return Answer(304, b"", content_type, headers)
            return Answer(200, body, content_type, headers)
        tree = self._discovery.legacy(path)
        if tree is not None:
            return self._shown(request, tree)
        parts = path.strip("/").split("/")
        group = parts[1] if parts[0] == "apis" and len(parts) > 1 else ""
        if parts[0] == "api" or self._discovery.builtin(group):
            raise NotFound.resource()
        return text_answer(_NOT_FOUND, 404)

    def _describe(self, request: Request) -> Answer:
        path = request.path.strip("/")
        if path == "openapi/v3":
            found = answer(self._openapi.index())
            found.content_type = "text/plain; charset=utf-8"
            return found
        name = path.removeprefix("openapi/v3/")
        body = self._openapi.document(name) if name != path else None
        if body is None:
            return text_answer(_NOT_FOUND, 404)
        tag = self._openapi.hash_of(name)
        headers = [("ETag", f'"{tag}"'), ("Vary", "Accept")]
        if request.parameter("hash") == tag:
            headers.append(("Cache-Control", "public, immutable, max-age=31536000"))
        else:
            headers += COMMON_HEADERS
        if request.headers.get("if-none-match", "").strip('"') == tag:
            return Answer(304, b"", "application/json", headers)
        return Answer(200, body, "application/json", headers)

    def _health(self, request: Request, name: str) -> Answer:
        if not any(key == "verbose" for key, _ in request.query):
            return text_answer("ok")
        lines = "".join(f"[+]{check} ok\n" for check in _CHECKS)
        return text_answer(f"{lines}{name} check passed\n")

    def _issuer(self) -> Tree:
        issuer = self._signer.issuer
        return {
            "issuer": issuer,
            "jwks_uri": f"{issuer}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }
