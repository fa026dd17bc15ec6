"""Gets and lists, with pages, selectors and the rules of resourceVersion.

A page token names the revision of its first page, so that later pages come from history and all
pages together are one consistent list.
"""

from __future__ import annotations

import base64
import posixpath
from dataclasses import dataclass
from typing import Final

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.negotiation import Form, wants_pretty
from windtunnel.apiserver.forms.options import ListOptions, list_options, revision
from windtunnel.apiserver.forms.rendering import (
    COMMON_HEADERS,
    Tables,
    answer,
    included,
    list_body,
    metadata_only,
    not_a_list,
    warning_headers,
)
from windtunnel.apiserver.forms.selection import Selection, select
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.kinds import Kind
from windtunnel.machinery.errors import BadRequest, Expired, NotFound, Timeout
from windtunnel.machinery.tree import Key, Tree, decode, encode
from windtunnel.store import HistoryGone, Version

_TOKEN_VERSION: Final = "meta.k8s.io/v1"
_INCONSISTENT: Final = -1
_FORGOTTEN_PAGE: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


class _ForgottenPage(Expired):
    """The page's revision is forgotten; the Status offers a token that ignores revisions."""

    def __init__(self, token: str) -> None:
        super().__init__(_FORGOTTEN_PAGE)
        self.token = token

    def to_status(self) -> Tree:
        """Return the body, with the token in its metadata."""
        status = super().to_status()
        status["metadata"] = {"continue": self.token}
        return status


class FromTheFuture(Timeout):
    """A revision was asked for that has not come yet."""

    def __init__(self, wanted: int, current: int) -> None:
        causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
        super().__init__(
            f"Timeout: Too large resource version: {wanted}, current: {current}",
            details={"causes": causes},
            retry_after_seconds=1,
        )
        self.wanted = wanted


@dataclass(frozen=True, slots=True)
class _Page:
    """Where a list goes on: after ``start``, as of ``revision``."""

    revision: int
    start: str

    def encode(self) -> str:
        """Return the continue token."""
        tree = {"v": _TOKEN_VERSION, "rv": self.revision, "start": self.start}
        return base64.urlsafe_b64encode(encode(tree)).rstrip(b"=").decode()

    @classmethod
    def decode(cls, token: str) -> _Page:
        """Return the page that a token names.

        Raises:
            BadRequest: It is no token of ours.
        """
        try:
            tree = decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            version, page = str(tree["v"]), cls(int(tree["rv"]), str(tree["start"]))
        except (ValueError, KeyError, TypeError):
            raise BadRequest("continue key is not valid: encoded start key is empty") from None
        if why := page._mistake(version):
            raise BadRequest(f"invalid continue token: continue key is not valid: {why}")
        return page

    def _mistake(self, version: str) -> str:
        if version != _TOKEN_VERSION:
            return f"server does not recognize this encoded version {version}"
        if self.revision == 0:
            return f"incorrect encoded start resourceVersion (version {version})"
        place = f"/{self.start.removeprefix('/')}"
        return "" if posixpath.normpath(place) == place else self.start


def _place(key: Key) -> str:
    return f"/{key.namespace}/{key.name}" if key.namespace else f"/{key.name}"


@dataclass(frozen=True, slots=True)
class Listing:
    """The versions of one page, and what its metadata says."""

    versions: list[Version]
    revision: int
    token: str = ""
    remaining: int | None = None


class Reading:
    """Answers get and list."""

    def __init__(self, objects: Objects, tables: Tables) -> None:
        self._objects = objects
        self._store = objects.store
        self._tables = tables

    def find(self, call: Call) -> Version:
        """Return the object named in the path.

        Raises:
            NotFound: There is none.
        """
        kind, name = call.kind, call.route.name
        version = self._objects.find(kind, Key(call.namespace, name))
        if version is None:
            raise NotFound.of(kind.plural, kind.group, name)
        return version

    def get(self, call: Call) -> Answer:
        """Answer a get."""
        wanted = revision(call.request.parameter("resourceVersion"))
        if wanted > self._store.revision:
            raise FromTheFuture(wanted, self._store.revision)
        return self.show(call, self.find(call))

    def show(self, call: Call, version: Version, status: int = 200) -> Answer:
        """Return one stored object in the form that the client wants."""
        form, kind = call.form, call.kind
        pretty = _pretty(call)
        if form == Form() and not pretty:
            headers = [*COMMON_HEADERS, *warning_headers(call.warnings)]
            body = self._objects.json(kind, version) + b"\n"
            return Answer(status, body, form.media, headers, self._store.revision)
        return self.show_tree(call, self._objects.tree(kind, version), status)

    def show_tree(self, call: Call, tree: Tree, status: int = 200) -> Answer:
        """Return one object in the form that the client wants."""
        form, kind = call.form, call.kind
        if form.as_kind == "Table":
            include = included(call.request.parameter("includeObject"))
            metadata = {"resourceVersion": tree["metadata"].get("resourceVersion", "")}
            tree = self._tables.table(
                kind, [tree], form, metadata=metadata, include=include, now=call.now
            )
        elif form.as_kind == "PartialObjectMetadata":
            tree = metadata_only(kind, tree, form.as_version)
        return answer(
            tree,
            status=status,
            form=form,
            pretty=_pretty(call),
            warnings=call.warnings,
            revision=self._store.revision,
        )

    def list_all(self, call: Call) -> Answer:
        """Answer a list."""
        options = list_options(call.request.query, watch=False)
        kind, form = call.kind, call.form
        selection = select(self._objects, kind, options.label_selector, options.field_selector)
        listing = self.page(kind, call.namespace, options, selection)
        return self.show_list(call, kind, listing, form)

    def show_list(self, call: Call, kind: Kind, listing: Listing, form: Form) -> Answer:
        """Return a page in the form that the client wants."""
        if form.as_kind == "PartialObjectMetadata":
            raise not_a_list(kind)
        if form.as_kind:
            return self._shown_as(call, kind, listing, form)
        bodies = [self._objects.json(kind, version) for version in listing.versions]
        body = list_body(
            kind,
            bodies,
            revision=listing.revision,
            token=listing.token,
            remaining=listing.remaining,
        )
        pretty = _pretty(call)
        if form == Form() and not pretty:
            headers = [*COMMON_HEADERS, *warning_headers(call.warnings)]
            return Answer(200, body, form.media, headers, self._store.revision)
        return answer(
            decode(body),
            form=form,
            pretty=pretty,
            warnings=call.warnings,
            revision=self._store.revision,
        )

    def _shown_as(self, call: Call, kind: Kind, listing: Listing, form: Form) -> Answer:
        metadata: Tree = {"resourceVersion": str(listing.revision)}
        if listing.token:
            metadata["continue"] = listing.token
        if listing.remaining:
            metadata["remainingItemCount"] = listing.remaining
        trees = self._tables.trees(kind, listing.versions)
        if form.as_kind == "Table":
            include = included(call.request.parameter("includeObject"))
            tree = self._tables.table(
                kind, trees, form, metadata=metadata, include=include, now=call.now
            )
        else:
            tree = {
                "kind": "PartialObjectMetadataList",
                "apiVersion": f"meta.k8s.io/{form.as_version}",
                "metadata": metadata,
                "items": [metadata_only(kind, each, form.as_version) for each in trees],
            }
        return answer(
            tree,
            form=form,
            pretty=_pretty(call),
            warnings=call.warnings,
            revision=self._store.revision,
        )

    def page(
        self, kind: Kind, namespace: str, options: ListOptions, selection: Selection
    ) -> Listing:
        """Return one page of a list.

        Raises:
            BadRequest: Token and resourceVersion are both given, or the token is none.
            Expired: The asked revision is forgotten.
            Timeout: The asked revision has not come yet.
        """
        limit = max(options.limit, 0)
        if options.token:
            if options.resource_version not in ("", "0"):
                raise BadRequest("specifying resource version is not allowed when using continue")
            page = _Page.decode(options.token)
            at, versions = self._as_of_page(kind, namespace, page)
            versions = [version for version in versions if _place(version.key) > page.start]
        else:
            at, versions, limit = self._as_of(kind, namespace, options, limit)
        name = selection.name
        if name is not None and not options.token and at == self._store.revision and namespace:
            only = self._objects.find(kind, Key(namespace, name))
            versions = [] if only is None else [only]
        if not selection.empty:
            versions = [version for version in versions if selection.matches(version)]
        if not limit or len(versions) <= limit:
            return Listing(list(versions), at)
        token = _Page(at, _place(versions[limit - 1].key) + "\0").encode()
        remaining = len(versions) - limit if selection.empty else None
        return Listing(list(versions[:limit]), at, token, remaining)

    def _as_of(
        self, kind: Kind, namespace: str, options: ListOptions, limit: int
    ) -> tuple[int, list[Version], int]:
        current = self._store.revision
        wanted = revision(options.resource_version)
        if wanted > current:
            raise FromTheFuture(wanted, current)
        exact = options.match == "Exact" or (not options.match and limit > 0 and wanted > 0)
        if exact and wanted < current:
            try:
                return wanted, self._store.at(kind.store, wanted, namespace), limit
            except HistoryGone:
                raise Expired("The resourceVersion for the provided list is too old.") from None
        if options.resource_version == "0":
            limit = 0
        return current, self._store.list(kind.store, namespace), limit

    def _as_of_page(self, kind: Kind, namespace: str, page: _Page) -> tuple[int, list[Version]]:
        if page.revision == _INCONSISTENT:
            return self._store.revision, self._store.list(kind.store, namespace)
        try:
            return page.revision, self._store.at(kind.store, page.revision, namespace)
        except HistoryGone:
            token = _Page(_INCONSISTENT, page.start).encode()
            raise _ForgottenPage(token) from None


def _pretty(call: Call) -> bool:
    request = call.request
    if request.trusted:
        return False
    return wants_pretty(request.parameter("pretty"), request.headers.get("user-agent", ""))
