"""The core: one synchronous call from a request to its outcome.

It wires the rooms of the API server together and walks a request through them: who asks, may they,
what is asked for, which room answers. It never waits; see ``request`` for how calls to the outside
fit in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from windtunnel.apiserver.access.authentication import Authenticator, impersonated
from windtunnel.apiserver.access.authorization import Authorizer, asked_by
from windtunnel.apiserver.access.rbac import Rbac
from windtunnel.apiserver.access.reviews import Reviews
from windtunnel.apiserver.access.token_requests import TokenRequests
from windtunnel.apiserver.access.tokens import Signer
from windtunnel.apiserver.admission import Chain, builtin_panel
from windtunnel.apiserver.bootstrap import bootstrap
from windtunnel.apiserver.call import Call, ReplyWanted
from windtunnel.apiserver.changes import Changes
from windtunnel.apiserver.custom import Customs
from windtunnel.apiserver.describing.discovery import Discovery
from windtunnel.apiserver.describing.openapi import OpenApi
from windtunnel.apiserver.describing.server_paths import ServerPaths
from windtunnel.apiserver.forms.negotiation import Form, accepted
from windtunnel.apiserver.forms.rendering import Tables, refusal_answer, text_answer
from windtunnel.apiserver.mint import Mint, live_mint
from windtunnel.apiserver.plugin_names import DEFAULT_PLUGINS
from windtunnel.apiserver.request import BODY_LIMIT, Answer, Outcome, Request
from windtunnel.apiserver.routes import Route, parse
from windtunnel.apiserver.subresources.binding import Binding
from windtunnel.apiserver.subresources.evicting import Evicting
from windtunnel.apiserver.subresources.node_calls import NODE_CALLS, NodeCalls
from windtunnel.apiserver.subresources.proxying import Proxying
from windtunnel.apiserver.subresources.scaling import Scaling
from windtunnel.apiserver.verbs.deleting import Deleting
from windtunnel.apiserver.verbs.dispatch import Verbs
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.ownership import default_manager
from windtunnel.apiserver.verbs.patching import Patching
from windtunnel.apiserver.verbs.reading import FromTheFuture, Reading
from windtunnel.apiserver.verbs.watching import Watching
from windtunnel.apiserver.verbs.writing import Writing
from windtunnel.kernel import Clock
from windtunnel.kinds import Catalogue, Kind
from windtunnel.machinery.admission import Panel, User
from windtunnel.machinery.errors import (
    ApiError,
    MethodNotAllowed,
    NotFound,
    TooLarge,
)
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Store

HandleCall = Callable[[Call], Outcome]
"""Answers a request for one kind."""
_UNSERVED: Final = "404 page not found\n"
_ITSELF: Final = User("system:apiserver", ("system:masters",))


class Core:
    """The API of one cluster over one store."""

    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        clock: Clock,
        *,
        signer: Signer | None = None,
        tokens: Mapping[str, User] | None = None,
        service_range: str = "10.96.0.0/16",
        admission_plugins: AbstractSet[str] = DEFAULT_PLUGINS,
        mint: Mint | None = None,
        rules: Callable[[Core], Panel] | None = None,
    ) -> None:
        """Wire the API server and write the start-up objects that are missing.

        Args:
            store: Where objects are kept.
            catalogue: The kinds that are served; custom kinds are added to it.
            clock: Tells the time.
            signer: Signs service-account tokens; None: with a fresh key.
            tokens: Static bearer tokens.
            service_range: From which services get their addresses.
            admission_plugins: Names of those that are on.
            rules: Makes the admission rules of other rooms; the core it is handed cannot be
                asked anything yet.
            mint: Makes uids and random ends of names; None: as a live cluster does.
        """
        signer = signer or Signer.generate()
        self.store, self.catalogue, self.clock = store, catalogue, clock
        self.mint = mint or live_mint()
        self.objects = Objects(store, catalogue)
        self.changes = Changes(self.objects)
        rbac = Rbac(store)
        self.authenticator = Authenticator(tokens or {}, signer, self._find)
        self._authorizer = Authorizer(rbac)
        chain = Chain(
            builtin_panel(
                store,
                self._authorizer,
                rbac,
                self.mint,
                service_range=service_range,
                plugins=admission_plugins,
                others=rules(self) if rules is not None else Panel(),
            )
        )
        self._tables = Tables(self.objects)
        self.customs = Customs(store, catalogue, clock)
        self.reading = Reading(self.objects, self._tables)
        self.watching = Watching(self.objects, self._tables, clock)
        self.writing = Writing(self.objects, chain)
        self.patching = Patching(self.objects, self.writing)
        self.deleting = Deleting(self.objects, chain)
        self.binding = Binding(self.objects, catalogue.by_resource("pods"))
        self.evicting = Evicting(self.objects, self.reading, self.deleting, catalogue)
        self._verbs = Verbs(
            self.objects, self.reading, self.watching, self.writing, self.patching, self.deleting
        )
        scaling = Scaling(self.objects, self.reading, self.writing, self.patching, self.customs)
        node_calls = NodeCalls(self.objects, self.reading, self._authorizer)
        self._subresources: Mapping[str, HandleCall] = {
            "scale": scaling.handle,
            "binding": self.binding.handle,
            "eviction": self.evicting.handle,
            "token": TokenRequests(self.objects, self.reading, signer).handle,
            "proxy": Proxying(self.objects).handle,
            **dict.fromkeys(NODE_CALLS, node_calls.handle),
        }
        reviews = Reviews(self.authenticator, self._authorizer)
        self._posted: Mapping[str, HandleCall] = {
            "bindings": self.binding.handle,
            **dict.fromkeys(reviews.resources, reviews.handle),
        }
        self.discovery = Discovery(catalogue)
        self._paths = ServerPaths(store, self.discovery, OpenApi(catalogue), signer)
        bootstrap(self.objects, catalogue, clock, self.mint)
        self.settle()

    def _find(self, resource: str, key: Key) -> Tree | None:
        version = self.store.get(resource, key)
        return None if version is None else version.tree()

    def handle(self, request: Request) -> Outcome:
        """Answer one request."""
        warnings: list[str] = []
        try:
            return self._handle(request, warnings)
        except ReplyWanted as wanted:
            return wanted.ask
        except ApiError as error:
            found = refusal_answer(error, warnings=warnings)
            found.revision = self.store.revision
            if isinstance(error, FromTheFuture):
                found.awaits = error.wanted
            return found
        finally:
            if self.customs.pending:
                self.settle()

    def settle(self) -> None:
        """Follow changes of custom resource definitions."""
        self.customs.settle(self._clear)

    def _handle(self, request: Request, warnings: list[str]) -> Outcome:
        now: float = request.memo.setdefault("now", self.clock.now())
        user = request.user or self.authenticator.user_of(request, now)
        route = parse(request.method, request.path, request.query)
        if not request.trusted:
            user = self._authorized(request, user, route)
        if route.malformed:
            raise NotFound.resource()
        if not route.is_resource:
            return self._paths.handle(request)
        kind = self.catalogue.by_path(route.group, route.version, route.resource)
        if kind is None:
            return self._unserved(route)
        if len(request.body) > BODY_LIMIT:
            raise TooLarge(f"Request entity too large: limit is {BODY_LIMIT}")
        call = Call(
            request, route, user, kind, now, self.mint, trusted=request.trusted, warnings=warnings
        )
        call.manager = request.parameter("fieldManager") or default_manager(
            request.headers.get("user-agent", "")
        )
        if text := kind.deprecated or self.customs.deprecation(kind):
            call.warn(text)
        if kind.custom and route.verb == "create" and self.customs.is_going(kind):
            raise MethodNotAllowed(
                "create not allowed while custom resource definition is terminating",
                details={"group": kind.group, "kind": kind.plural},
            )
        return self._answered(call)

    def _authorized(self, request: Request, user: User, route: Route) -> User:
        """Return the user to act as.

        Raises:
            Forbidden: They may not do this, or not act as somebody else.
        """
        asked = asked_by(route)
        wanted = impersonated(request)
        if wanted is not None:
            self._authorizer.require_impersonation(user, wanted, asked)
            user = wanted
        self._authorizer.require(user, asked)
        return user

    def _unserved(self, route: Route) -> Answer:
        group = route.group
        if not group or self.discovery.builtin(group):
            raise NotFound.resource()
        return text_answer(_UNSERVED, 404)

    def _answered(self, call: Call) -> Outcome:
        kind, route = call.kind, call.route
        reads_all = route.verb in ("list", "watch")
        if kind.namespaced and not route.namespace and route.name and not reads_all:
            raise NotFound.resource()
        if not kind.namespaced and route.namespace and route.resource != "namespaces":
            if kind.custom:
                return text_answer(_UNSERVED, 404)
            raise NotFound.resource()
        if route.subresource:
            return self._subresource(call)
        post = self._posted.get(kind.resource)
        if post is not None:
            if route.verb != "create":
                raise MethodNotAllowed
            call.form = self._form(call)
            return post(call)
        self._require_verb(call)
        call.form = self._form(call)
        return self._verbs.handle(call)

    def _require_verb(self, call: Call) -> None:
        kind, route = call.kind, call.route
        verb = route.verb
        known = verb in kind.verbs
        named = bool(route.name) and verb not in ("list", "watch")
        if verb in ("create", "deletecollection") and named:
            known = False
        if verb in ("update", "patch") and not named:
            known = False
        if kind.namespaced and not route.namespace and verb not in ("list", "watch"):
            known = False
        if not known or call.request.method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            raise MethodNotAllowed

    def _form(self, call: Call) -> Form:
        accept = call.request.accept
        return accepted(accept) if accept else Form()

    def _subresource(self, call: Call) -> Outcome:
        kind, route = call.kind, call.route
        part = kind.subresources.get(route.subresource)
        if part is None:
            raise NotFound.resource()
        if route.verb not in part.verbs:
            raise MethodNotAllowed
        call.form = self._form(call)
        return self._subresources.get(route.subresource, self._verbs.handle_part)(call)

    def _clear(self, kind: Kind) -> bool:
        """Delete every object of a kind that is to be served no more."""
        for version in self.store.list(kind.store):
            place = f"/apis/{kind.group}/{kind.version}"
            route = Route(
                place,
                "delete",
                is_resource=True,
                group=kind.group,
                version=kind.version,
                namespace=version.key.namespace,
                resource=kind.plural,
                name=version.key.name,
            )
            request = Request("DELETE", place, trusted=True)
            call = Call(request, route, _ITSELF, kind, self.clock.now(), self.mint, trusted=True)
            self._verbs.delete_quietly(call, version)
        return not self.store.count(kind.store)
